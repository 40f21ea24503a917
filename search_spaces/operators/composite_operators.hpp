#pragma once

#include "search_spaces/operators/operators.hpp"

namespace clade {

/// The rows of operators that are several layers: one gene each, which decode() takes
/// apart into layers of the other rows. Shapes, costs, modules, exports and inheritance
/// are those of these layers.
[[nodiscard]] std::span<const operator_entry> image_composites();
[[nodiscard]] std::span<const operator_entry> table_composites();

} // namespace clade
