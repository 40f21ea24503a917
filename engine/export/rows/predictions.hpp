#pragma once

#include "engine/data/reading/preprocessing.hpp"
#include "engine/run/records/test_details.hpp"

#include <optional>
#include <span>
#include <string>

namespace clade {

/// How wide the intervals of numbers are.
struct interval_rule {
  error_quantiles errors{};
  double level = 0.9;

  /// How far that of an example reaches, in the target's own unit; of a forecast, so many
  /// steps ahead.
  [[nodiscard]] double reach(std::uint32_t ahead = 0) const {
    return errors.reach(level, ahead).value_or(0);
  }
  /// How far that of one of several targets reaches.
  [[nodiscard]] double reach_of_target(std::size_t target) const {
    return errors.reach_of_target(level, target).value_or(0);
  }
};

/// The choices about a file of predictions.
struct prediction_format {
  bool probabilities = true; ///< For classes: that of each, behind the class.
  /// For numbers: an interval around each prediction (`intervals_of`).
  std::optional<interval_rule> intervals = std::nullopt;
  /// Names as the data has them, for programs; else as `csv_safe_field` writes them.
  bool as_is = false;
};

/// Returns the rule of intervals in which a new example's value lies with at least that
/// probability, `level` in (0, 1): they reach as far as the error of rank ceil((n + 1)
/// level) among the n of the validation part (split conformal prediction; Vovk et al.,
/// 2005; Lei et al., 2018), of forecasts among those that look as far ahead. It holds for
/// new examples that come from where the validation part came from. The validation part
/// also chose the network and its epoch, which makes its errors a little too small: the
/// test data says by how much. An error where n is too small for the level.
[[nodiscard]] expected<interval_rule> intervals_of(const error_quantiles& errors,
                                                   double level);

/// The likeliest class of an example's scores; the first of equals.
[[nodiscard]] std::size_t likeliest(std::span<const float> scores);

/// Returns the meaning of a network's output (`learning_task::decoded`), number `place` of a
/// list of them.
[[nodiscard]] double decoded(float output, const preprocessing& how,
                             std::size_t place = 0);

/// Brings the quantiles of each example into rising order, in which networks need not give
/// them; other outputs stay as they are.
void order_quantiles(std::span<float> outputs, const preprocessing& how);

/// Refuses outputs [examples, outputs] that are not all finite numbers, in the target's
/// own unit where that is a number. The error names the first such row of `data` by its
/// line in `examples.lines`, or else by its number from 1, and says how many there are.
[[nodiscard]] expected<void> check_finite(std::span<const float> outputs,
                                          const preprocessing& how,
                                          const new_examples& examples,
                                          const std::string& data);

/// CSV with a title: "file" where examples are files, or the names of a series and the time
/// of a forecast; then "class,p(CLASS),...", or the target's name and, with an interval,
/// "NAME_low,NAME_high", the same of several targets, or "NAME_q0.9" of each quantile; of
/// labels, whether the example has each (1 or 0), then "p(LABEL),...". `outputs` [examples,
/// outputs] are scores of classes, log-odds of labels or standardised targets.
[[nodiscard]] std::string predictions_csv(std::span<const float> outputs,
                                          const preprocessing& how,
                                          const prediction_format& format,
                                          const new_examples& examples = {});

} // namespace clade
