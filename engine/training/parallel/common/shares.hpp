#pragma once

#include "engine/training/network/device_data.hpp"
#include "engine/training/parallel/common/ordered_sum.hpp"

#include <cstdint>
#include <span>

namespace clade {

/// One share's examples of a batch, of which there are so many shares.
[[nodiscard]] batch share_of_batch(const batch& b, std::size_t share, std::size_t of);

[[nodiscard]] std::int64_t elements_of(std::span<const at::Tensor> tensors);

/// Views of one row of values, one behind the other, that lie in it as `like` do in their
/// own memory: with the same shapes and strides.
[[nodiscard]] tensor_list views_of(const at::Tensor& row,
                                   std::span<const at::Tensor> like);

/// A new row with the values of tensors, one behind the other.
[[nodiscard]] at::Tensor row_of(std::span<const at::Tensor> tensors);
/// Writes the values of such a row into tensors, but for the first `skipped`.
void copy_row(const at::Tensor& row, std::span<const at::Tensor> tensors,
              std::size_t skipped = 0);

/// Returns the values of a row of float32 on the processor.
[[nodiscard]] std::span<float> values_of(const at::Tensor& row);

} // namespace clade
