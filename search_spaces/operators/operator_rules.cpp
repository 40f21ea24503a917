// Shape rules and cost rules of operators. Costs are for one example:
//
//   parameters        what the optimiser changes; running means of batch_norm are none
//   multiply_adds     of convolutions and linear maps their products; one for each
//                     element that enters a norm, a sum or a pool's window; activations,
//                     views and copies count as free
//   activation_bytes  four for each element that a stage (map, norm, activation, ...)
//                     puts out, since the backward pass reads it; a maximum also keeps
//                     where it was (8 bytes), dropout whom it spared (1 byte); views keep
//                     nothing
//
// Values stay far below 2^63: decode() refuses layers of more than 2^28 elements, and the
// table's ranges bound kernels and widths.
#include "search_spaces/operators/operator_rules.hpp"

#include "search_spaces/operators/operators.hpp"

namespace clade::operator_rules {

namespace {

constexpr std::uint64_t float_bytes = 4;

std::uint64_t natural(std::int64_t v) {
  return static_cast<std::uint64_t>(v);
}

std::uint64_t squared(std::int64_t v) {
  return natural(v) * natural(v);
}

/// The cost of the part that follows the linear map of a block, or stands alone, without
/// the map's weights.
layer_cost after_map(const tensor_shape& out, const settings_list& settings) {
  const auto elements = natural(out.elements());
  const auto channels = natural(out.sizes[0]);
  const bool norm = text_setting(settings, "norm") != "none";
  const bool activation = text_setting(settings, "activation") != "none";
  return {.parameters = norm ? 2 * channels : channels,
          .multiply_adds = norm ? elements : 0,
          .activation_bytes = float_bytes * elements * (1u + norm + activation)};
}

tensor_shape windowed(const tensor_shape& in, std::int64_t channels,
                      const settings_list& settings, std::int64_t dilation) {
  const auto kernel = integer_setting(settings, "kernel");
  const auto stride = integer_setting(settings, "stride");
  return {{channels, windows(in.sizes[1], kernel, stride, dilation).out,
           windows(in.sizes[2], kernel, stride, dilation).out}};
}

} // namespace

tensor_shape same(shapes in, const settings_list&) {
  return in[0];
}

tensor_shape shape_of_last(shapes in, const settings_list&) {
  return in.back();
}

tensor_shape conv_shape(shapes in, const settings_list& settings) {
  return windowed(in[0], integer_setting(settings, "filters"), settings,
                  integer_setting(settings, "dilation"));
}

tensor_shape depthwise_shape(shapes in, const settings_list& settings) {
  return windowed(in[0], in[0].sizes[0], settings, integer_setting(settings, "dilation"));
}

tensor_shape pool_shape(shapes in, const settings_list& settings) {
  return windowed(in[0], in[0].sizes[0], settings, 1);
}

tensor_shape channels_alone(shapes in, const settings_list&) {
  return {{in[0].sizes[0]}};
}

tensor_shape dense_shape(shapes, const settings_list& settings) {
  return {{integer_setting(settings, "units")}};
}

tensor_shape concat_shape(shapes in, const settings_list&) {
  tensor_shape out = in[0];
  for (const tensor_shape& other : in.subspan(1))
    out.sizes[0] += other.sizes[0];
  return out;
}

tensor_shape flat_shape(shapes in, const settings_list&) {
  return {{in[0].elements()}};
}

tensor_shape pixel_shape(shapes in, const settings_list&) {
  return {{in[0].elements(), 1, 1}};
}

tensor_shape resize_shape(shapes in, const settings_list& settings) {
  return {{in[0].sizes[0], integer_setting(settings, "height"),
           integer_setting(settings, "width")}};
}

tensor_shape piecewise_shape(shapes in, const settings_list& settings) {
  return {{in[0].sizes[0] * integer_setting(settings, "bins")}};
}

tensor_shape periodic_shape(shapes in, const settings_list& settings) {
  return {{2 * in[0].sizes[0] * integer_setting(settings, "frequencies")}};
}

tensor_shape map_each_shape(shapes, const settings_list& settings) {
  return {{integer_setting(settings, "groups") * integer_setting(settings, "width")}};
}

tensor_shape boosted_trees_shape(shapes, const settings_list& settings) {
  return {{integer_setting(settings, "width")}};
}

tensor_shape outputs_shape(shapes in, const settings_list& settings) {
  tensor_shape out = in[0];
  out.sizes[0] = integer_setting(settings, "outputs");
  return out;
}

layer_cost free_of_charge(shapes, const tensor_shape&, const settings_list&) {
  return {};
}

layer_cost kept(shapes, const tensor_shape& out, const settings_list&) {
  return {.activation_bytes = float_bytes * natural(out.elements())};
}

layer_cost conv_cost(shapes in, const tensor_shape& out, const settings_list& settings) {
  auto cost = after_map(out, settings);
  const auto fan_in =
      natural(in[0].sizes[0]) * squared(integer_setting(settings, "kernel"));
  cost.parameters += fan_in * natural(out.sizes[0]);
  cost.multiply_adds += fan_in * natural(out.elements());
  return cost;
}

layer_cost depthwise_cost(shapes, const tensor_shape& out,
                          const settings_list& settings) {
  auto cost = after_map(out, settings);
  const auto kernel = squared(integer_setting(settings, "kernel"));
  cost.parameters += kernel * natural(out.sizes[0]);
  cost.multiply_adds += kernel * natural(out.elements());
  return cost;
}

layer_cost separable_cost(shapes in, const tensor_shape& out,
                          const settings_list& settings) {
  auto cost = after_map(out, settings);
  const auto channels = natural(in[0].sizes[0]);
  const auto kernel = squared(integer_setting(settings, "kernel"));
  const auto between = channels * natural(out.sizes[1] * out.sizes[2]);
  cost.parameters += channels * kernel + channels * natural(out.sizes[0]);
  cost.multiply_adds += between * kernel + channels * natural(out.elements());
  cost.activation_bytes += float_bytes * between;
  return cost;
}

layer_cost dense_cost(shapes in, const tensor_shape& out, const settings_list& settings) {
  auto cost = after_map(out, settings);
  const auto products = natural(in[0].elements()) * natural(out.elements());
  cost.parameters += products;
  cost.multiply_adds += products;
  return cost;
}

layer_cost max_pool_cost(shapes, const tensor_shape& out, const settings_list& settings) {
  const auto elements = natural(out.elements());
  return {.multiply_adds = elements * squared(integer_setting(settings, "kernel")),
          .activation_bytes = (float_bytes + 8) * elements};
}

layer_cost avg_pool_cost(shapes, const tensor_shape& out, const settings_list& settings) {
  const auto elements = natural(out.elements());
  return {.multiply_adds = elements * squared(integer_setting(settings, "kernel")),
          .activation_bytes = float_bytes * elements};
}

layer_cost global_avg_cost(shapes in, const tensor_shape& out, const settings_list&) {
  return {.multiply_adds = natural(in[0].elements()),
          .activation_bytes = float_bytes * natural(out.elements())};
}

layer_cost global_max_cost(shapes in, const tensor_shape& out, const settings_list&) {
  return {.multiply_adds = natural(in[0].elements()),
          .activation_bytes = (float_bytes + 8) * natural(out.elements())};
}

layer_cost norm_cost(shapes, const tensor_shape& out, const settings_list&) {
  const auto elements = natural(out.elements());
  return {.parameters = 2 * natural(out.sizes[0]),
          .multiply_adds = elements,
          .activation_bytes = float_bytes * elements};
}

layer_cost dropout_cost(shapes, const tensor_shape& out, const settings_list&) {
  return {.activation_bytes = (float_bytes + 1) * natural(out.elements())};
}

// The bin's share, and the share cut to [0, 1].
layer_cost piecewise_cost(shapes, const tensor_shape& out, const settings_list&) {
  const auto elements = natural(out.elements());
  return {.multiply_adds = elements, .activation_bytes = 2 * float_bytes * elements};
}

// Turns, of which there are half as many, their cosines and sines, and both joined.
layer_cost periodic_cost(shapes, const tensor_shape& out, const settings_list&) {
  const auto elements = natural(out.elements());
  return {.parameters = elements / 2,
          .multiply_adds = elements / 2,
          .activation_bytes = float_bytes * (elements / 2 + 2 * elements)};
}

layer_cost map_each_cost(shapes in, const tensor_shape& out,
                         const settings_list& settings) {
  const auto elements = natural(out.elements());
  const auto fan_in = natural(in[0].sizes[0] / integer_setting(settings, "groups"));
  return {.parameters = (fan_in + 1) * elements,
          .multiply_adds = fan_in * elements,
          .activation_bytes = float_bytes * elements};
}

// Costs for each tree the place of its leaf, in 8 bytes, and the values of the leaf.
layer_cost boosted_trees_cost(shapes, const tensor_shape& out,
                              const settings_list& settings) {
  const auto width = natural(out.elements());
  const auto trees = width * natural(integer_setting(settings, "trees"));
  const auto depth = natural(integer_setting(settings, "depth"));
  return {.parameters = trees << depth,
          .multiply_adds = trees * depth,
          .activation_bytes = (8 + float_bytes) * trees + float_bytes * width};
}

layer_cost add_cost(shapes in, const tensor_shape& out, const settings_list&) {
  const auto elements = natural(out.elements());
  return {.multiply_adds = elements * (in.size() - 1),
          .activation_bytes = float_bytes * elements};
}

layer_cost mixture_cost(shapes in, const tensor_shape& out, const settings_list&) {
  const auto elements = natural(out.elements());
  return {.multiply_adds = elements * in.size(),
          .activation_bytes = float_bytes * elements};
}

layer_cost map_cost(shapes in, const tensor_shape& out, const settings_list&) {
  const auto channels = natural(in[0].sizes[0]);
  const auto elements = natural(out.elements());
  return {.parameters = (channels + 1) * natural(out.sizes[0]),
          .multiply_adds = channels * elements,
          .activation_bytes = float_bytes * elements};
}

} // namespace clade::operator_rules
