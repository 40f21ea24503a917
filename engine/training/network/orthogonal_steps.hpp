#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace clade {

/// Returns the orthogonal matrix that is nearest to a matrix, about: its singular values
/// become some of .7 to 1.2 by five Newton-Schulz iterations. Zeros stay zeros.
[[nodiscard]] at::Tensor nearest_orthogonal(const at::Tensor& matrix);

/// How one step of Muon is made.
struct orthogonal_step_params {
  double learning_rate = 0;
  double momentum = 0; ///< Nesterov's.
  double weight_decay = 0;
  /// 1 where the gradients of the step are too large to be numbers: nothing changes then.
  std::optional<at::Tensor> overflowed = {};
};

/// One step of Muon (Jordan et al., "Muon: An optimizer for hidden layers in neural
/// networks", 2024) of a weight, whose first dimension is that of its outputs: the weight
/// decays, and goes along the nearest orthogonal matrix of its momentum. The length of the
/// step is that of AdamW for the same rate (Liu et al., "Muon is Scalable for LLM
/// Training", 2025), so that one rate serves both.
void orthogonal_step(at::Tensor& weight, const at::Tensor& gradient, at::Tensor& momentum,
                     const orthogonal_step_params& params);

} // namespace clade
