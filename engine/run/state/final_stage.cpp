#include "engine/run/state/final_stage.hpp"

#include "genome/genes/hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace clade {

namespace {

constexpr std::uint32_t usual_members = 3, usual_folds = 5, most_rounds = 3;
// A training of the end is longer than one of the search by this much and has at least so
// many epochs; where time is left over, at most `stretch` times as many.
constexpr std::uint32_t longer = 4, least_epochs = 60, stretch = 3;
constexpr std::size_t most_trainings = 60;
// The shares of the run's time, if nobody gives one.
constexpr double least_share = 0.5, most_share = 0.8;
// Trainings are planned for this share of the time; the rest is for delays and for what
// follows them.
constexpr double planned_share = 0.86;
// A training that is not done by then is cut.
constexpr double latest_end = 0.9;
// So much of a first epoch is worth a training.
constexpr double least_part = 0.2;
// Beside other processes and with more examples an epoch takes longer than it did.
constexpr double slower = 1.12;

std::uint32_t wanted_epochs(const final_params& params, const final_means& means) {
  return params.epochs != 0 ? params.epochs
                            : std::max(least_epochs, longer * means.epochs);
}

struct sizes {
  std::size_t genomes = 1;
  std::uint32_t folds = 1;
  std::size_t rounds = 1; ///< How often each is trained, from other initial values.
  std::uint32_t epochs = 1;

  [[nodiscard]] std::size_t trainings() const { return genomes * folds * rounds; }
};

/// Returns the seconds of an epoch of the slowest of so many genomes.
double slowest_epoch(std::span<const individual> best, std::size_t genomes) {
  double slowest = 0;
  for (const auto& i : best.first(genomes))
    slowest = std::max(slowest, i.seconds_per_epoch * slower);
  return slowest;
}

/// Says whether trainings fit into the time of the slots.
class schedule_of_end {
public:
  schedule_of_end(std::span<const individual> best, const final_means& means)
      : best_(best),
        slots_(means.slots),
        seconds_(planned_share * 1e-3 * static_cast<double>(means.time.count())) {}

  /// How many epochs each training can have, one after another on each slot.
  [[nodiscard]] double epochs_for(const sizes& s) const {
    const auto in_turn = (s.trainings() + slots_ - 1) / slots_;
    return seconds_
           / (static_cast<double>(in_turn)
              * std::max(1e-9, slowest_epoch(best_, s.genomes)));
  }
  [[nodiscard]] bool fits(const sizes& s) const {
    return s.trainings() <= most_trainings && epochs_for(s) >= s.epochs;
  }

  /// Raises one of the sizes up to `most` as long as the result fits.
  template<class Size>
  void grow(sizes& s, Size sizes::*size, Size most) const {
    while (s.*size < most) {
      auto larger = s;
      ++(larger.*size);
      if (!fits(larger))
        return;
      s = larger;
    }
  }

private:
  std::span<const individual> best_;
  std::size_t slots_;
  double seconds_;
};

// Folds of the best genome come first, then more genomes and more rounds, as long as all
// fits, and then more epochs. If the time is too short, each slot trains one.
sizes within_time(const final_params& params, std::span<const individual> best,
                  const final_means& means, const sizes& wanted) {
  const schedule_of_end schedule(best, means);
  // Without an ensemble the best of them is the champion, judged as all others are.
  const bool deals = params.folds == 0 && params.model == "ensemble";
  auto found = wanted;
  found.genomes = 1;
  if (schedule.fits(found)) {
    if (deals)
      schedule.grow(found, &sizes::folds, usual_folds);
    schedule.grow(found, &sizes::genomes, wanted.genomes);
    schedule.grow(found, &sizes::rounds, std::size_t{most_rounds});
  } else {
    if (deals)
      found.folds =
          std::min<std::uint32_t>(usual_folds, static_cast<std::uint32_t>(means.slots));
    found.genomes = std::clamp<std::size_t>(means.slots / found.folds, 1, wanted.genomes);
    // A genome that takes much longer than the best would be cut short.
    if (slowest_epoch(best, found.genomes) > 1.5 * slowest_epoch(best, 1))
      found.genomes = 1;
  }
  const double most = params.epochs != 0 ? wanted.epochs : stretch * wanted.epochs;
  const double epochs = schedule.epochs_for(found);
  // The progress of a part of the first epoch counts.
  found.epochs = static_cast<std::uint32_t>(
      std::clamp(std::floor(epochs), epochs >= least_part ? 1.0 : 0.0, most));
  return found;
}

/// Returns whether a genome is about as good as the best: its error is at most a tenth more.
/// Fitness that is raised counts as a share that misses 1, else as an error itself.
bool about_as_good(const individual& one, const individual& best) {
  constexpr double more = 1.1;
  const double f = one.fitness.primary, b = best.fitness.primary;
  if (one.fitness.violation > best.fitness.violation)
    return false;
  if (f >= b)
    return true;
  if (b < 0)
    return f >= more * b;
  return b <= 1 ? 1 - f <= more * (1 - b) : f >= b / more;
}

/// Returns those about as good as the best of which each slot can train one for half of the
/// wanted epochs. If there is none, the best of those that can be trained for a part of
/// an epoch is trained for as long as there is time: one that is worse and faster would
/// stay worse.
std::vector<individual> affordable(std::span<const individual> best,
                                   const final_means& means, std::uint32_t wanted) {
  std::vector<individual> found;
  for (const auto& i : best)
    if (about_as_good(i, best.front())
        && schedule_of_end({&i, 1}, means).fits({.epochs = (wanted + 1) / 2}))
      found.push_back(i);
  const auto once = std::ranges::find_if(best, [&](const individual& i) {
    return schedule_of_end({&i, 1}, means).epochs_for({}) >= least_part;
  });
  if (found.empty() && once != best.end())
    found.push_back(*once);
  return found;
}

} // namespace

expected<void> validate(const final_params& params) {
  static constexpr std::array models{"none", "best", "ensemble"};
  if (std::ranges::find(models, params.model) == models.end())
    return fail(error_kind::invalid_input,
                "model must be \"none\", \"best\" or \"ensemble\"");
  if (params.members > most_final_genomes)
    return fail(
        error_kind::invalid_input,
        fmt::format("members must be at most {}: of so many the search keeps the genomes",
                    most_final_genomes));
  if (params.folds > 20)
    return fail(error_kind::invalid_input, "folds must be at most 20");
  if (params.share != 0 && !(params.share >= 0.05 && params.share <= 0.95))
    return fail(error_kind::invalid_input,
                "share must be from 0.05 to 0.95, or 0: chosen by the time");
  return {};
}

double share_of_end(const final_params& params, const final_means& means,
                    double seconds_per_epoch) {
  if (params.share != 0)
    return params.share;
  const auto trainings = std::max(1U, params.members) * std::max(1U, params.folds);
  const auto in_turn = (trainings + means.slots - 1) / means.slots;
  const double needed = static_cast<double>(in_turn * wanted_epochs(params, means))
                        * seconds_per_epoch * slower / planned_share;
  const double all = 1e-3 * static_cast<double>(means.time.count());
  return std::clamp(needed / all, least_share, most_share);
}

double affordable_epoch(const final_params& params, const final_means& means) {
  const double end = 1e-3 * static_cast<double>(means.time.count())
                     * (params.share != 0 ? params.share : most_share);
  return end * planned_share / slower / ((wanted_epochs(params, means) + 1) / 2);
}

final_planned plan_final_stage(const final_params& params,
                               std::span<const individual> best,
                               const final_means& means) {
  final_planned plan{.time_ms = static_cast<std::uint64_t>(
                         latest_end * static_cast<double>(means.time.count()))};
  if (params.model == "ensemble")
    plan.folds_apart = true;
  if (best.empty())
    return plan;
  const auto epochs = wanted_epochs(params, means);
  const bool limited = means.time.count() > 0;
  const auto sources = limited ? affordable(best, means, epochs)
                               : std::vector<individual>(best.begin(), best.end());
  if (sources.empty())
    return plan;
  sizes s{.genomes = std::min<std::size_t>(
              params.members != 0 ? params.members : usual_members, sources.size()),
          .folds = std::max<std::uint32_t>(1, params.folds),
          .epochs = epochs};
  if (limited)
    s = within_time(params, sources, means, s);
  if (s.epochs == 0)
    return plan;
  for (std::size_t round = 0; round < s.rounds; ++round)
    for (std::size_t g = 0; g < s.genomes; ++g)
      for (std::uint32_t f = 0; f < s.folds; ++f)
        plan.trainings.push_back({.source = sources[g].id,
                                  .epochs = s.epochs,
                                  .fold = {.index = f, .of = s.folds}});
  return plan;
}

candidate candidate_of(const final_planned& plan, std::size_t i, const individual& source,
                       candidate_id id, std::uint64_t generation) {
  const auto& t = plan.trainings[i];
  candidate c{.id = id,
              .generation = generation,
              .index = i,
              .genome = source.genome,
              .network = canonical_hash(*source.genome),
              .parents = {source.id},
              .epochs = t.epochs,
              .fold = t.fold,
              .time = std::chrono::milliseconds(plan.time_ms)};
  change what{.kind = change_kind::trained_to_end, .after = std::to_string(t.epochs)};
  if (t.fold.of > 1)
    what.before = fmt::format("without fold {} of {}", t.fold.index + 1, t.fold.of);
  c.changes.push_back(std::move(what));
  return c;
}

} // namespace clade
