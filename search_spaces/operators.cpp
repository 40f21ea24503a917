// The table of operators. Costs are for one example:
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
#include "search_spaces/operators.hpp"

#include <algorithm>
#include <array>

namespace clade {

namespace {

using settings_list = std::vector<setting>;
using shapes = std::span<const tensor_shape>;
using kind = setting_entry::kind;

constexpr std::uint64_t float_bytes = 4;

constexpr std::array<std::string_view, 8> activations{
    "none", "relu", "leaky_relu", "elu", "gelu", "silu", "tanh", "sigmoid"};
constexpr std::array<std::string_view, 7> functions{
    "relu", "leaky_relu", "elu", "gelu", "silu", "tanh", "sigmoid"};
constexpr std::array<std::string_view, 3> norms{"none", "batch", "layer"};

constexpr double widest = 65536;

constexpr setting_entry activation_entry{
    .name = "activation", .type = kind::text, .words = activations};
constexpr setting_entry dilation_entry{
    .name = "dilation", .low = 1, .high = 16, .fallback = 1};
constexpr setting_entry filters_entry{
    .name = "filters", .low = 1, .high = widest, .fallback = 16, .width = true};
constexpr setting_entry kernel_entry{
    .name = "kernel", .low = 1, .high = 15, .fallback = 3, .odd = true};
constexpr setting_entry norm_entry{.name = "norm", .type = kind::text, .words = norms};
constexpr setting_entry stride_entry{
    .name = "stride", .low = 1, .high = 8, .fallback = 1};
constexpr setting_entry outputs_entry{
    .name = "outputs", .low = 1, .high = widest, .fallback = 1};

constexpr std::array conv_settings{activation_entry, dilation_entry, filters_entry,
                                   kernel_entry,     norm_entry,     stride_entry};
constexpr std::array depthwise_settings{activation_entry, dilation_entry, kernel_entry,
                                        norm_entry, stride_entry};
constexpr std::array pool_settings{
    setting_entry{.name = "kernel", .low = 2, .high = 15, .fallback = 2},
    setting_entry{.name = "stride", .low = 1, .high = 8, .fallback = 2}};
constexpr std::array dense_settings{
    activation_entry, norm_entry,
    setting_entry{
        .name = "units", .low = 1, .high = widest, .fallback = 64, .width = true}};
constexpr std::array activation_settings{
    setting_entry{.name = "function", .type = kind::text, .words = functions}};
constexpr std::array dropout_settings{setting_entry{
    .name = "rate", .type = kind::real, .low = 0, .high = 0.95, .fallback = 0.2}};
constexpr std::array resize_settings{
    setting_entry{.name = "height", .low = 1, .high = widest, .fallback = 1},
    setting_entry{.name = "width", .low = 1, .high = widest, .fallback = 1}};
constexpr std::array outputs_settings{outputs_entry};

std::uint64_t natural(std::int64_t v) {
  return static_cast<std::uint64_t>(v);
}

std::uint64_t squared(std::int64_t v) {
  return natural(v) * natural(v);
}

/// What follows the linear map of a block, or stands alone: costs without the map's
/// weights.
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

tensor_shape same(shapes in, const settings_list&) {
  return in[0];
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

layer_cost add_cost(shapes in, const tensor_shape& out, const settings_list&) {
  const auto elements = natural(out.elements());
  return {.multiply_adds = elements * (in.size() - 1),
          .activation_bytes = float_bytes * elements};
}

/// A 1x1 convolution or a linear map, with bias.
layer_cost map_cost(shapes in, const tensor_shape& out, const settings_list&) {
  const auto channels = natural(in[0].sizes[0]);
  const auto elements = natural(out.elements());
  return {.parameters = (channels + 1) * natural(out.sizes[0]),
          .multiply_adds = channels * elements,
          .activation_bytes = float_bytes * elements};
}

constexpr std::array table{
    operator_entry{.name = "input",
                   .summary = "the examples",
                   .reserved = true,
                   .shape = same,
                   .cost = kept},
    operator_entry{.name = "conv",
                   .summary = "convolution, norm, activation",
                   .settings = conv_settings,
                   .wants_image = true,
                   .shape = conv_shape,
                   .cost = conv_cost},
    operator_entry{.name = "separable_conv",
                   .summary = "depthwise then 1x1 convolution, norm, activation",
                   .settings = conv_settings,
                   .wants_image = true,
                   .shape = conv_shape,
                   .cost = separable_cost},
    operator_entry{.name = "depthwise_conv",
                   .summary = "one kernel per channel, norm, activation",
                   .settings = depthwise_settings,
                   .wants_image = true,
                   .shape = depthwise_shape,
                   .cost = depthwise_cost},
    operator_entry{.name = "max_pool",
                   .summary = "maximum of each window",
                   .settings = pool_settings,
                   .wants_image = true,
                   .shape = pool_shape,
                   .cost = max_pool_cost},
    operator_entry{.name = "avg_pool",
                   .summary = "mean of each window",
                   .settings = pool_settings,
                   .wants_image = true,
                   .shape = pool_shape,
                   .cost = avg_pool_cost},
    operator_entry{.name = "global_avg_pool",
                   .summary = "mean of each channel",
                   .wants_image = true,
                   .shape = channels_alone,
                   .cost = global_avg_cost},
    operator_entry{.name = "global_max_pool",
                   .summary = "maximum of each channel",
                   .wants_image = true,
                   .shape = channels_alone,
                   .cost = global_max_cost},
    operator_entry{.name = "dense",
                   .summary = "linear map, norm, activation",
                   .settings = dense_settings,
                   .wants_vector = true,
                   .shape = dense_shape,
                   .cost = dense_cost},
    operator_entry{.name = "batch_norm",
                   .summary = "normalizes each channel over the batch",
                   .shape = same,
                   .cost = norm_cost},
    operator_entry{.name = "layer_norm",
                   .summary = "normalizes each example",
                   .shape = same,
                   .cost = norm_cost},
    operator_entry{.name = "activation",
                   .summary = "a function of each element",
                   .settings = activation_settings,
                   .shape = same,
                   .cost = kept},
    operator_entry{.name = "dropout",
                   .summary = "forgets elements at random while training",
                   .settings = dropout_settings,
                   .shape = same,
                   .cost = dropout_cost},
    operator_entry{.name = "add",
                   .summary = "sum",
                   .reserved = true,
                   .shape = same,
                   .cost = add_cost},
    operator_entry{.name = "concat",
                   .summary = "joins along channels or features",
                   .reserved = true,
                   .shape = concat_shape,
                   .cost = kept},
    operator_entry{.name = "flatten",
                   .summary = "image to vector",
                   .reserved = true,
                   .wants_image = true,
                   .shape = flat_shape,
                   .cost = free_of_charge},
    operator_entry{.name = "as_image",
                   .summary = "vector to image of one pixel",
                   .reserved = true,
                   .wants_vector = true,
                   .shape = pixel_shape,
                   .cost = free_of_charge},
    operator_entry{.name = "resize",
                   .summary = "adaptive average pool",
                   .settings = resize_settings,
                   .reserved = true,
                   .wants_image = true,
                   .shape = resize_shape,
                   .cost = global_avg_cost},
    operator_entry{.name = "project",
                   .summary = "linear map of channels or features",
                   .settings = outputs_settings,
                   .reserved = true,
                   .shape = outputs_shape,
                   .cost = map_cost},
    operator_entry{.name = "output",
                   .summary = "linear map to classes or targets",
                   .settings = outputs_settings,
                   .reserved = true,
                   .wants_vector = true,
                   .shape = outputs_shape,
                   .cost = map_cost},
};

} // namespace

std::span<const operator_entry> operators() {
  return table;
}

const operator_entry* find_operator(std::string_view name) {
  const auto found = std::ranges::find(table, name, &operator_entry::name);
  return found == table.end() ? nullptr : &*found;
}

window_places windows(std::int64_t size, std::int64_t kernel, std::int64_t stride,
                      std::int64_t dilation) {
  const auto out = (size + stride - 1) / stride;
  const auto before = dilation * (kernel - 1) / 2;
  const auto end = (out - 1) * stride - before + dilation * (kernel - 1) + 1;
  return {.out = out, .before = before, .after = std::max<std::int64_t>(end - size, 0)};
}

} // namespace clade
