#pragma once

#include "search_spaces/network.hpp"

#include <span>
#include <string_view>

namespace clade {

/// One operator: its shape rule and its cost rule. Its module is the row of the same name in
/// engine/training/operators.cpp; a test holds the two tables to the same names. Adding an
/// operator is a row here and a row there.
struct operator_entry {
  std::string_view name;
  std::string_view summary;
  /// Which settings search-space files may give it.
  std::span<const std::string_view> settings;
  bool wants_image = false; ///< Its input is {channels, height, width}; others are flattened or
                            ///< taken as they are.
  bool wants_vector = false;
  /// The output's shape for one input, already adapted.
  tensor_shape (*shape)(const tensor_shape& in, const std::vector<setting>& settings);
  layer_cost (*cost)(const tensor_shape& in, const tensor_shape& out,
                     const std::vector<setting>& settings);
};

[[nodiscard]] std::span<const operator_entry> operators();
[[nodiscard]] const operator_entry* find_operator(std::string_view name);

} // namespace clade
