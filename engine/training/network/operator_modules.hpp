#pragma once

#include "engine/training/network/network_module.hpp"

#include <string_view>

namespace clade {

/// The source of a layer's initial values, and the place where it lives.
struct layer_context {
  random_stream random;
  at::Device device;
};

/// The module of the operator of the same name in search_spaces/operators/operators.hpp.
struct operator_module {
  std::string_view name;
  std::shared_ptr<layer_module> (*build)(const layer& l, layer_context& context);
};

/// Returns scores whose probabilities are those of `scores` [examples, classes], mixed with
/// equal ones so that none is below `least`.
[[nodiscard]] at::Tensor bounded_scores(const at::Tensor& scores,
                                        const at::Tensor& least);

[[nodiscard]] std::span<const operator_module> operator_modules();
[[nodiscard]] const operator_module* find_operator_module(std::string_view name);

} // namespace clade
