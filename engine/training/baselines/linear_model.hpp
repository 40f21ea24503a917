#pragma once

#include "engine/training/loop/training_loop.hpp"

namespace clade {

/// The linear model as it was fitted, tested on the same split.
struct linear_model {
  examination tested;
  at::Tensor weight; ///< [features, outputs]
  at::Tensor bias;   ///< [outputs]

  /// Scores or standardised values of examples of any shape.
  [[nodiscard]] at::Tensor predict(const at::Tensor& examples) const;
  /// Returns the tensors of `linear_network` (search_spaces/operators/mixture.hpp).
  [[nodiscard]] std::vector<weight_tensor> weights() const;
};

/// The linear model that a champion is compared with, fitted to convergence on the
/// training part: softmax regression by L-BFGS (Nocedal and Wright, 2006) for classes,
/// ridge regression in closed form for numbers. How strongly weights are held down is
/// chosen by validation.loss. Class weights count as in training. The metrics are those
/// of `assess` for the test and the validation part, those that are asked for
/// (metrics.hpp) among them. Penalties that there is no time for by the deadline are left
/// out; an error if there is none for the first.
[[nodiscard]] expected<linear_model>
fit_linear_model(const device_data& data, std::int64_t outputs,
                 std::chrono::steady_clock::time_point deadline,
                 std::span<const std::string> asked = {});

/// The same model fitted to each of several folds (`data_of_fold`).
struct linear_folds {
  std::vector<linear_model> folds; ///< Without their tests.
  linear_model whole;              ///< Says the mean of what they say.
};

/// Fits the linear model to so many folds, dealt by the run's seed. One penalty is chosen
/// for all of them, by the loss of all examples that they leave out. An error where there
/// is no time for the first penalty.
[[nodiscard]] expected<linear_folds>
fit_linear_folds(const device_data& data, std::int64_t outputs, std::uint32_t folds,
                 std::uint64_t seed, std::chrono::steady_clock::time_point deadline);

} // namespace clade
