#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace clade {

/// The predictions of a classifier for some examples, and their true classes.
struct class_predictions {
  std::size_t classes = 0;
  std::span<const std::int64_t> labels; ///< [examples], each below `classes`.
  /// [examples, classes], row-major: logits, or logarithms of probabilities.
  std::span<const float> scores;
  std::span<const std::string> names{}; ///< The names of the classes, by label.
};

// The definitions are those of scikit-learn 1.x with its defaults, but where they say
// otherwise. The predicted class is the first of those with the greatest score. All
// functions are pure: the same bits give the same bits.

/// counts[i * classes + j]: how many examples of class i were taken for class j.
struct confusion_counts {
  std::size_t classes = 0;
  std::vector<std::uint64_t> counts;

  [[nodiscard]] std::uint64_t at(std::size_t actual, std::size_t predicted) const {
    return counts[actual * classes + predicted];
  }
  [[nodiscard]] std::uint64_t actual(std::size_t c) const;
  [[nodiscard]] std::uint64_t predicted(std::size_t c) const;
  [[nodiscard]] std::uint64_t examples() const;
};

[[nodiscard]] confusion_counts confusion_of(const class_predictions& p);

/// Shares of examples, in [0, 1]; 0 where they would divide by 0.
[[nodiscard]] double accuracy(const confusion_counts& c);
[[nodiscard]] double precision(const confusion_counts& c, std::size_t of);
[[nodiscard]] double recall(const confusion_counts& c, std::size_t of);
[[nodiscard]] double f1(const confusion_counts& c, std::size_t of);
/// Means over classes: of the F1 of those that occur or are predicted, and of the recall
/// of those that occur.
[[nodiscard]] double f1_macro(const confusion_counts& c);
[[nodiscard]] double balanced_accuracy(const confusion_counts& c);
/// Matthews' correlation coefficient, in [-1, 1], for several classes as Gorodkin (2004)
/// has it; 0 where all examples are of one class, or are taken for one.
[[nodiscard]] double matthews(const confusion_counts& c);

/// The area under the ROC curve: how likely a positive example has a greater score than a
/// negative one, ties counting half. 0.5 where there are none of either. `positive` has a
/// value other than 0 for each positive example.
[[nodiscard]] double area_under_curve(std::span<const double> scores,
                                      std::span<const std::uint8_t> positive);

/// Returns, for two classes, the area under the ROC curve of the second; for several the
/// mean of those of each class against the rest, over the classes of which there are
/// examples and counterexamples; 0.5 if there is no such class.
[[nodiscard]] double auc(const class_predictions& p);

/// The share of examples whose class is among the `k` with the greatest scores; of equal
/// scores the first class comes first.
[[nodiscard]] double top(const class_predictions& p, std::size_t k);

/// The negated logarithm of the probability of that example's class.
[[nodiscard]] double example_log_loss(const class_predictions& p, std::size_t example);

/// The mean of `example_log_loss` over all examples.
[[nodiscard]] double log_loss(const class_predictions& p);

} // namespace clade
