#include "engine/report/base/final_phase.hpp"

#include "engine/report/base/format.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clade {

std::optional<double> seconds_left(const final_phase& p) {
  if (p.trained >= p.trainings)
    return std::nullopt;
  const auto open = static_cast<double>(p.trainings - p.trained);
  if (p.paced == 0 || p.seconds <= 0)
    return p.limit;
  const double at_this_pace = open * p.seconds / static_cast<double>(p.paced);
  return std::min(at_this_pace, p.limit.value_or(at_this_pace));
}

std::string to_text(const final_phase& p) {
  if (p.trained >= p.trainings)
    return "final: putting the model together";
  return fmt::format("final: {} of {} trainings", with_commas(p.trained),
                     with_commas(p.trainings));
}

std::string text_with_time(const final_phase& p) {
  const auto left = seconds_left(p);
  return left ? fmt::format("{}, {} left", to_text(p), duration_text(*left)) : to_text(p);
}

} // namespace clade
