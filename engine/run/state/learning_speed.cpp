#include "engine/run/state/learning_speed.hpp"

#include <algorithm>
#include <cmath>

namespace clade {

namespace {

constexpr double least_epochs = 3;
// Below, the logarithm of an error tells nothing.
constexpr double least_error = 1e-9;

std::optional<double> error_of_metric(double value, bool maximize) {
  const double error = maximize ? 1 - value : value;
  return error >= 0 && std::isfinite(error) ? std::optional(error) : std::nullopt;
}

std::optional<double> error_of(const evaluation& e, const objective& goal) {
  const auto value = measured(e, goal.metric);
  return value ? error_of_metric(*value, goal.maximize) : std::nullopt;
}

/// The exponent by the curve; none where it is too short.
std::optional<double> measured_exponent(const evaluation& e, const objective& goal) {
  const auto by = of_epochs(goal);
  std::optional<double> first;
  double best = 0, seconds = 0, first_seconds = 0;
  for (const auto& passed : e.curve) {
    seconds += passed.seconds;
    const auto value = find(passed.metrics, by.metric);
    const auto error =
        value ? error_of_metric(*value, by.maximize) : std::optional<double>();
    if (!error)
      return 0;
    best = first ? std::min(best, *error) : *error;
    if (!first) {
      first = error;
      first_seconds = seconds;
    }
  }
  const auto epochs = static_cast<double>(e.curve.size());
  if (epochs < least_epochs)
    return std::nullopt;
  if (*first < least_error || best < least_error || seconds <= first_seconds)
    return 0;
  return std::clamp(std::log(*first / best) / std::log(seconds / first_seconds), 0.0,
                    usual_learning_exponent * std::sqrt(least_epochs / epochs));
}

} // namespace

learning_speed speed_of(const evaluation& e, const objective& goal, bool seed) {
  const auto exponent = measured_exponent(e, goal);
  return {.seconds = e.seconds,
          .error = error_of(e, goal),
          .exponent = exponent.value_or(seed ? proven_learning_exponent
                                             : usual_learning_exponent),
          .proven = seed && !exponent};
}

std::optional<double> expected_error(const learning_speed& speed, double seconds) {
  if (!speed.error || speed.seconds <= 0 || seconds <= 0)
    return speed.error;
  return *speed.error * std::pow(std::max(1.0, seconds / speed.seconds), -speed.exponent);
}

} // namespace clade
