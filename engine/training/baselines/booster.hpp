#pragma once

#include "genome/base/error.hpp"

#include <chrono>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace clade {

/// Examples of a table, none of whose values is NaN.
struct boosting_examples {
  std::span<const float> features; ///< Row by row.
  /// Labels from 0 on, or by example and target values of mean 0 or, of labels, 1 or 0.
  std::span<const float> targets;
  std::span<const float> weights{}; ///< The weight of each example; empty: all the same.
};

struct boosting_params {
  std::int64_t classes = 0; ///< 0: the targets are values, or labels.
  std::int64_t targets = 1; ///< How many of those each example has.
  bool labels = false;
  /// By target the quantile that its values are fitted by; empty: their mean is fitted.
  std::span<const float> quantiles{};
  std::int64_t depth = 6; ///< The depth of each tree, at most.
  double learning_rate = 0.1;
  double example_share = 0.8;  ///< The share of the examples, drawn for each round.
  double feature_share = 0.8;  ///< The share of the features, drawn for each tree.
  double least_weight = 1;     ///< Sum of second derivatives that a leaf needs.
  std::uint32_t rounds = 1000; ///< At most; each gives one tree for each output.
  std::uint32_t patience = 30; ///< Rounds without a lower validation loss.
  std::uint64_t seed = 0;
  /// No round starts after it; the first does.
  std::chrono::steady_clock::time_point deadline =
      std::chrono::steady_clock::time_point::max();
};

/// Trees as the operator boosted_trees has them (search_spaces/operators/operators.hpp).
/// They have one output for each value or label, of which it is the log-odds, and for two
/// classes, of which it is that of the second; else one for each class.
struct forest {
  std::int64_t rounds = 0;
  std::int64_t depth = 0;
  std::vector<float> features, thresholds, leaves;
  /// The loss of the validation examples: the mean negative logarithm of their classes'
  /// probabilities, or of their labels', the root of the mean squared error, or the mean
  /// pinball loss.
  double loss = std::numeric_limits<double>::infinity();
  bool cut = false; ///< By the deadline.
};

/// Fits gradient-boosted trees by XGBoost (Chen and Guestrin, KDD 2016), on histograms and
/// with one thread, up to the round of the lowest validation loss. Thresholds lie in the
/// middle between two values of the training examples. The same arguments give the same
/// bits, unless the deadline cuts. Quantiles are fitted by the gradients of their pinball loss
/// (Friedman, "Greedy function approximation", 2001), from those of all examples on. Arguments that XGBoost refuses are an error of kind io.
[[nodiscard]] expected<forest> boost(const boosting_params& params,
                                     const boosting_examples& train,
                                     const boosting_examples& validation);

} // namespace clade
