#pragma once

#include "search_spaces/operators/operators.hpp"

namespace clade {

/// The rows of operators that are one layer, by family (search_spaces/rows).
[[nodiscard]] std::span<const operator_entry> image_operators();
[[nodiscard]] std::span<const operator_entry> plain_operators();
[[nodiscard]] std::span<const operator_entry> adapter_operators();
[[nodiscard]] std::span<const operator_entry> table_operators();
[[nodiscard]] std::span<const operator_entry> random_convolution_operators();
[[nodiscard]] std::span<const operator_entry> sequence_operators();
[[nodiscard]] std::span<const operator_entry> recurrent_operators();
[[nodiscard]] std::span<const operator_entry> attention_operators();
[[nodiscard]] std::span<const operator_entry> time_operators();
[[nodiscard]] const operator_entry& input_operator();
[[nodiscard]] const operator_entry& output_operator();

/// The rows of operators that are several layers: one gene each, which decode() takes
/// apart into layers of the other rows. Shapes, costs, kernels, exports and inheritance
/// are those of these layers.
[[nodiscard]] std::span<const operator_entry> image_composites();
[[nodiscard]] std::span<const operator_entry> table_composites();
[[nodiscard]] std::span<const operator_entry> sequence_composites();

} // namespace clade
