#pragma once

#include "engine/training/network/operator_modules.hpp"

namespace clade {

/// Modules that see the columns of a table.
[[nodiscard]] std::shared_ptr<layer_module> build_select(const layer& l, layer_context&);
[[nodiscard]] std::shared_ptr<layer_module> build_piecewise(const layer& l,
                                                            layer_context&);
[[nodiscard]] std::shared_ptr<layer_module> build_periodic(const layer& l,
                                                           layer_context& c);
[[nodiscard]] std::shared_ptr<layer_module> build_map_each(const layer& l,
                                                           layer_context& c);

[[nodiscard]] std::shared_ptr<layer_module> build_boosted_trees(const layer& l,
                                                                layer_context& c);

} // namespace clade
