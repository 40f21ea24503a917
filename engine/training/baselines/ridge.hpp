#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace clade {

/// Examples that a ridge regression is fitted to, on the CPU.
struct ridge_examples {
  at::Tensor features; ///< float32 [examples, features]
  at::Tensor targets;  ///< float64 [examples, outputs]
  at::Tensor weights;  ///< float64 [examples]
};

/// Says features weight + bias, both in float64.
struct linear_map {
  at::Tensor weight; ///< [features, outputs]
  at::Tensor bias;   ///< [outputs]
};

struct ridge_fit {
  linear_map map;
  /// For each example, the answer of the same fit without it, [examples, outputs].
  at::Tensor left_out;
};

/// Fits a ridge regression on standardised features to a few thousand examples, of however
/// many features. How strongly weights are held down is chosen by the squared errors of
/// `left_out`. LibTorch's exceptions pass through.
[[nodiscard]] ridge_fit fit_ridge(const ridge_examples& examples);

/// Fits many examples of a few thousand features, of which it gathers the sums batch by
/// batch.
class ridge_sums {
public:
  void add(const ridge_examples& some);

  /// Returns the fits for penalties from the weakest up, without those that are too weak for
  /// the sums; examples must have been added.
  [[nodiscard]] std::vector<linear_map> solve() const;

private:
  at::Tensor weights_;  ///< Their sum.
  at::Tensor features_; ///< The weighted sum, [features].
  at::Tensor targets_;  ///< The weighted sum, [outputs].
  at::Tensor squares_;  ///< [features, features]
  at::Tensor products_; ///< [features, outputs]
};

} // namespace clade
