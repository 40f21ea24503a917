#pragma once

#include "search_spaces/operators/network.hpp"

#include <span>
#include <vector>

/// The rules that the rows of `operators()` name: what shape comes out of inputs that
/// were adapted already, and what that costs for one example. Settings are complete.
namespace clade::operator_rules {

using shapes = std::span<const tensor_shape>;
using settings_list = std::vector<setting>;

tensor_shape same(shapes in, const settings_list&);
tensor_shape shape_of_last(shapes in, const settings_list&);
tensor_shape conv_shape(shapes in, const settings_list& settings);
tensor_shape depthwise_shape(shapes in, const settings_list& settings);
tensor_shape pool_shape(shapes in, const settings_list& settings);
tensor_shape channels_alone(shapes in, const settings_list&);
tensor_shape dense_shape(shapes, const settings_list& settings);
tensor_shape concat_shape(shapes in, const settings_list&);
tensor_shape flat_shape(shapes in, const settings_list&);
tensor_shape pixel_shape(shapes in, const settings_list&);
tensor_shape resize_shape(shapes in, const settings_list& settings);
tensor_shape piecewise_shape(shapes in, const settings_list& settings);
tensor_shape periodic_shape(shapes in, const settings_list& settings);
tensor_shape map_each_shape(shapes in, const settings_list& settings);
tensor_shape boosted_trees_shape(shapes, const settings_list& settings);
tensor_shape outputs_shape(shapes in, const settings_list& settings);

layer_cost free_of_charge(shapes, const tensor_shape&, const settings_list&);
layer_cost kept(shapes, const tensor_shape& out, const settings_list&);
layer_cost conv_cost(shapes in, const tensor_shape& out, const settings_list& settings);
layer_cost depthwise_cost(shapes, const tensor_shape& out, const settings_list& settings);
layer_cost separable_cost(shapes in, const tensor_shape& out,
                          const settings_list& settings);
layer_cost dense_cost(shapes in, const tensor_shape& out, const settings_list& settings);
layer_cost max_pool_cost(shapes, const tensor_shape& out, const settings_list& settings);
layer_cost avg_pool_cost(shapes, const tensor_shape& out, const settings_list& settings);
layer_cost global_avg_cost(shapes in, const tensor_shape& out, const settings_list&);
layer_cost global_max_cost(shapes in, const tensor_shape& out, const settings_list&);
layer_cost norm_cost(shapes, const tensor_shape& out, const settings_list&);
layer_cost dropout_cost(shapes, const tensor_shape& out, const settings_list&);
layer_cost piecewise_cost(shapes, const tensor_shape& out, const settings_list&);
layer_cost periodic_cost(shapes, const tensor_shape& out, const settings_list&);
layer_cost map_each_cost(shapes in, const tensor_shape& out,
                         const settings_list& settings);
layer_cost boosted_trees_cost(shapes, const tensor_shape& out,
                              const settings_list& settings);
layer_cost add_cost(shapes in, const tensor_shape& out, const settings_list&);
layer_cost mixture_cost(shapes in, const tensor_shape& out, const settings_list&);
/// A 1x1 convolution or a linear map, with bias.
layer_cost map_cost(shapes in, const tensor_shape& out, const settings_list&);

} // namespace clade::operator_rules
