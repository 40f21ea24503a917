#pragma once

#include "engine/data/columns/learning_task.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace clade {

/// Predictions of several targets, or labels, of some examples, and what is true.
struct several_predictions {
  std::size_t targets = 0;
  /// [examples, targets], row-major: values in their own units; of labels 1 or 0, and the
  /// log-odds.
  std::span<const double> actual, predicted;
  std::span<const target_scale> scales{};
  std::span<const std::string> names{}; ///< By target.

  [[nodiscard]] std::size_t examples() const { return actual.size() / targets; }
};

/// The predictions of one of the targets.
struct target_column {
  std::vector<double> actual, predicted;
};

[[nodiscard]] target_column column_of(const several_predictions& p, std::size_t target);

// A label is predicted where its odds are even at least. F1, accuracy and the area under
// the curve are those of scikit-learn.

/// The F1 of all labels of all examples together; 1 where there is none and none is
/// predicted.
[[nodiscard]] double f1_micro(const several_predictions& p);
/// The F1 of a label; 1 where no example has it and none is predicted.
[[nodiscard]] double f1_of_label(const several_predictions& p, std::size_t label);
/// The mean of these over the labels.
[[nodiscard]] double f1_of_labels(const several_predictions& p);
/// The share of all labels of all examples that are told rightly.
[[nodiscard]] double label_accuracy(const several_predictions& p);
/// The share of examples of which all labels are told rightly.
[[nodiscard]] double exact_match(const several_predictions& p);
/// The area under the ROC curve of a label; 0.5 where all examples have it, or none.
[[nodiscard]] double auc_of_label(const several_predictions& p, std::size_t label);
/// The mean of these over the labels that some examples have and others have not.
[[nodiscard]] double auc_of_labels(const several_predictions& p);
/// The pinball loss of a quantile that the actual value is so far above, or below it if that
/// is negative.
[[nodiscard]] inline double pinball_loss(double above, double quantile) {
  return std::max(quantile * above, (quantile - 1) * above);
}
/// The mean of it over all outputs (scikit-learn's mean_pinball_loss), and that of one.
[[nodiscard]] double pinball(const several_predictions& p);
[[nodiscard]] double pinball_of(const several_predictions& p, std::size_t quantile);
/// The share of examples whose value is at most what is predicted, which a quantile of 0.9
/// is to be of nine in ten.
[[nodiscard]] double share_below(const several_predictions& p, std::size_t quantile);
/// The mean binary cross-entropy of all labels of all examples.
[[nodiscard]] double label_loss(const several_predictions& p);

} // namespace clade
