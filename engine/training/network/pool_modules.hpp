#pragma once

#include "engine/training/network/operator_modules.hpp"

namespace clade {

/// The operators that make images smaller, as `operator_module::build`.
[[nodiscard]] std::shared_ptr<layer_module> build_max_pool(const layer& l,
                                                           layer_context& context);
[[nodiscard]] std::shared_ptr<layer_module> build_avg_pool(const layer& l,
                                                           layer_context& context);
[[nodiscard]] std::shared_ptr<layer_module> build_resize(const layer& l,
                                                         layer_context& context);

} // namespace clade
