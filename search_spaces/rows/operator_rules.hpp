#pragma once

#include "search_spaces/operators/operators.hpp"

#include <span>
#include <vector>

/// The rules that several rows share: the shape that comes out of inputs that were adapted
/// already, what that costs for one example beside parameters, and which tensors a layer
/// has. Settings are complete.
///
///     multiply_adds     of convolutions and linear maps their products; one for each
///                       element that enters a norm, a sum or a pool's window;
///                       activations, views and copies count as free
///     activation_bytes  four for each element that a stage (map, norm, activation, ...)
///                       puts out, since the backward pass reads it; a maximum also keeps
///                       where it was (8 bytes), dropout whom it spared (1 byte); views
///                       keep nothing
///
/// Values stay far below 2^63: decode() refuses layers of more than 2^28 elements, and the
/// table's ranges bound kernels and widths.
namespace clade::operator_rules {

using shapes = std::span<const tensor_shape>;
using settings_list = std::vector<setting>;

inline constexpr std::uint64_t float_bytes = 4;

inline std::uint64_t natural(std::int64_t v) {
  return static_cast<std::uint64_t>(v);
}
inline std::uint64_t squared(std::int64_t v) {
  return natural(v) * natural(v);
}
inline std::int64_t units_in(const layer& l) {
  return l.in.front().units();
}
inline std::int64_t units_out(const layer& l) {
  return l.out.units();
}

tensor_shape same(shapes in, const settings_list&);
tensor_shape outputs_shape(shapes in, const settings_list& settings);

layer_cost kept(shapes, const tensor_shape& out, const settings_list&);
/// Each element that enters is added up, and each that comes out is kept.
layer_cost mean_cost(shapes in, const tensor_shape& out, const settings_list&);
/// The cost of the part of a block that follows its map, and of what the map puts out.
layer_cost after_map(const tensor_shape& out, const settings_list& settings);
/// A convolution of one pixel or step, or a linear map, with bias.
layer_cost map_cost(shapes in, const tensor_shape& out, const settings_list&);

/// A block's tensors: the map's bias where no norm follows, those `before` the map's
/// weight, the weight of these sizes, and the norm's.
tensor_entries block_tensors(const layer& l, std::array<std::int64_t, 4> weight,
                             const tensor_entries& before = {});
/// The tensors of a convolution of one pixel or step, or of a linear map, with bias.
tensor_entries map_tensors(const layer& l);
/// A weight and a bias for each channel or feature.
tensor_entries norm_tensors(const layer& l);

} // namespace clade::operator_rules
