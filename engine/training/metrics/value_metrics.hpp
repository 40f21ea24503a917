#pragma once

#include <span>

namespace clade {

/// The predictions of a regression for some examples, and their actual values, in the
/// target's own unit.
struct value_predictions {
  std::span<const double> actual, predicted;
  double deviation =
      1; ///< That of the targets in training, in which losses are measured.
};

// Returns the error as scikit-learn 1.x has it; 0 of no examples.

[[nodiscard]] double mean_squared_error(const value_predictions& p);
[[nodiscard]] double mean_absolute_error(const value_predictions& p);
/// The mean of |actual - predicted| / |actual|, a share and no percentage. An actual
/// value of 0 counts as 2.2e-16, so that one such example makes it useless.
[[nodiscard]] double mean_absolute_percentage_error(const value_predictions& p);
/// The mean of 2 |actual - predicted| / (|actual| + |predicted|), from 0 to 2 (sMAPE;
/// Makridakis, 1993); 0 of an example of which both are 0.
[[nodiscard]] double symmetric_percentage_error(const value_predictions& p);
/// 1 - squared errors / squared distances from the mean. If all values are equal: 1 if
/// all are predicted exactly, else 0.
[[nodiscard]] double r2(const value_predictions& p);

} // namespace clade
