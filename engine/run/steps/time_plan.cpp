#include "engine/run/steps/time_plan.hpp"

#include <algorithm>
#include <cmath>

namespace clade {
namespace {

// Fewer epochs tell little of a candidate.
constexpr std::uint32_t least_epochs = 3;
// At this share of the run's time its last trainings end; the rest is for the final model.
constexpr double latest_training = 0.96;

} // namespace

fitted_search fit_search(search_size size, double seconds_per_epoch, std::size_t slots,
                         double seconds, std::chrono::seconds most) {
  constexpr double many = 48, largest = 5000, in_turn = 4;
  const final_means means{.slots = slots,
                          .time = std::chrono::milliseconds(std::llround(1e3 * seconds)),
                          .epochs = size.epochs};
  const double all =
      (1 - share_of_end({.model = "ensemble"}, means, seconds_per_epoch)) * seconds;
  const double longest = std::max(1.0, all / in_turn);
  const auto fit = [&](double training) {
    return all * static_cast<double>(slots) / training;
  };
  if (fit(seconds_per_epoch * least_epochs) >= many)
    while (fit(seconds_per_epoch * size.epochs) < many)
      --size.epochs;
  const double count =
      std::clamp(fit(std::min(longest, seconds_per_epoch * size.epochs)), 4.0, largest);
  size.population =
      static_cast<std::uint64_t>(std::clamp(std::round(std::sqrt(2 * count)), 4.0, 32.0));
  size.generations = std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(
             std::ceil(count / static_cast<double>(size.population) - 1e-9)));
  const auto limit = std::chrono::seconds(std::llround(std::ceil(longest)));
  return {.size = size, .evaluation_time = std::min(most, limit)};
}

clock_order run_clock::look(double used, const final_params& end,
                            const final_means& means, double seconds_per_epoch) {
  auto due = clock_order::none;
  if (end.wanted() && given_ == clock_order::none
      && used >= 1 - share_of_end(end, means, seconds_per_epoch))
    due = clock_order::end_search;
  else if (end.wanted() && given_ < clock_order::end_trainings && used >= latest_training)
    due = clock_order::end_trainings;
  else if (given_ != clock_order::stop && used >= 1)
    due = clock_order::stop;
  if (due != clock_order::none)
    given_ = due;
  return due;
}

} // namespace clade
