#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace clade {

/// Sequences [N, channels, steps] and their differences, [N, channels, steps - 1].
struct convolved_sequences {
  /// Takes sequences [N, steps, channels] of two steps at least.
  explicit convolved_sequences(const at::Tensor& sequences);

  /// Returns what the kernels of a part say of each step, [N, kernels, steps or one less].
  /// `weight` is [parts, kernels, channels, 9]: part 2 i is of the sequences, part 2 i + 1
  /// of their differences, and both see every (2^i)th step, and zeros beyond the ends.
  [[nodiscard]] at::Tensor by_part(const at::Tensor& weight, std::int64_t part) const;

  at::Tensor values, differences;
};

} // namespace clade
