// Convolutions of images, and pools of images and of sequences.
#include "search_spaces/operators/operator_rows.hpp"
#include "search_spaces/rows/operator_rules.hpp"
#include "search_spaces/rows/operator_settings.hpp"

#include <array>

namespace clade {

namespace {

using namespace operator_rules;
using namespace operator_settings;

constexpr setting_entry dilation_entry{
    .name = "dilation",
    .low = 1,
    .high = 16,
    .fallback = 1,
    .sentence = "The distance of the pixels that a kernel sees."};
constexpr setting_entry pool_kernel_entry{
    .name = "kernel",
    .low = 2,
    .high = 15,
    .fallback = 2,
    .sentence = "A window's height and width, or its steps."};
constexpr setting_entry pool_stride_entry{.name = "stride",
                                          .low = 1,
                                          .high = 8,
                                          .fallback = 2,
                                          .sentence = stride_entry.sentence};

constexpr std::array<std::string_view, 2> answers{"yes", "no"};
constexpr setting_entry bias_entry{
    .name = "bias",
    .type = kind::text,
    .words = answers,
    .sentence = "no: none, even where no norm follows; where one does there is none."};

constexpr std::array conv_settings{activation_entry, bias_entry,   dilation_entry,
                                   filters_entry,    kernel_entry, norm_entry,
                                   stride_entry};
constexpr std::array depthwise_settings{activation_entry, dilation_entry, kernel_entry,
                                        norm_entry, stride_entry};
constexpr std::array pool_settings{pool_kernel_entry, pool_stride_entry};

tensor_shape windowed(const tensor_shape& in, std::int64_t channels,
                      const settings_list& settings, std::int64_t dilation) {
  const auto kernel = integer_setting(settings, "kernel");
  const auto stride = integer_setting(settings, "stride");
  return {{channels, windows(in.sizes[1], kernel, stride, dilation).out,
           windows(in.sizes[2], kernel, stride, dilation).out}};
}

tensor_shape conv_shape(shapes in, const settings_list& settings) {
  return windowed(in[0], integer_setting(settings, "filters"), settings,
                  integer_setting(settings, "dilation"));
}

tensor_shape depthwise_shape(shapes in, const settings_list& settings) {
  return windowed(in[0], in[0].sizes[0], settings, integer_setting(settings, "dilation"));
}

tensor_shape pool_shape(shapes in, const settings_list& settings) {
  if (in[0].layout() == layout::image)
    return windowed(in[0], in[0].sizes[0], settings, 1);
  return {{windows(in[0].sizes[0], integer_setting(settings, "kernel"),
                   integer_setting(settings, "stride"))
               .out,
           in[0].units()}};
}

tensor_shape channels_alone(shapes in, const settings_list&) {
  return {{in[0].units()}};
}

std::uint64_t squared_kernel(const settings_list& settings) {
  return squared(integer_setting(settings, "kernel"));
}

layer_cost conv_cost(shapes in, const tensor_shape& out, const settings_list& settings) {
  auto cost = after_map(out, settings);
  cost.multiply_adds +=
      natural(in[0].sizes[0]) * squared_kernel(settings) * natural(out.elements());
  return cost;
}

layer_cost depthwise_cost(shapes, const tensor_shape& out,
                          const settings_list& settings) {
  auto cost = after_map(out, settings);
  cost.multiply_adds += squared_kernel(settings) * natural(out.elements());
  return cost;
}

layer_cost separable_cost(shapes in, const tensor_shape& out,
                          const settings_list& settings) {
  auto cost = after_map(out, settings);
  const auto channels = natural(in[0].sizes[0]);
  const auto between = channels * natural(out.sizes[1] * out.sizes[2]);
  cost.multiply_adds +=
      between * squared_kernel(settings) + channels * natural(out.elements());
  cost.activation_bytes += float_bytes * between;
  return cost;
}

/// Pixels of a pool's window, or steps.
std::uint64_t window_size(const tensor_shape& out, const settings_list& settings) {
  return out.layout() == layout::image ? squared_kernel(settings)
                                       : natural(integer_setting(settings, "kernel"));
}

layer_cost max_pool_cost(shapes, const tensor_shape& out, const settings_list& settings) {
  const auto elements = natural(out.elements());
  return {.multiply_adds = elements * window_size(out, settings),
          .activation_bytes = (float_bytes + 8) * elements};
}

layer_cost avg_pool_cost(shapes, const tensor_shape& out, const settings_list& settings) {
  const auto elements = natural(out.elements());
  return {.multiply_adds = elements * window_size(out, settings),
          .activation_bytes = float_bytes * elements};
}

layer_cost global_max_cost(shapes in, const tensor_shape& out, const settings_list&) {
  return {.multiply_adds = natural(in[0].elements()),
          .activation_bytes = (float_bytes + 8) * natural(out.elements())};
}

tensor_entries conv_tensors(const layer& l) {
  const auto k = integer_setting(l.settings, "kernel");
  return block_tensors(l, {units_out(l), units_in(l), k, k});
}

tensor_entries depthwise_tensors(const layer& l) {
  const auto k = integer_setting(l.settings, "kernel");
  return block_tensors(l, {units_in(l), 1, k, k});
}

tensor_entries separable_tensors(const layer& l) {
  const auto k = integer_setting(l.settings, "kernel");
  return block_tensors(l, {units_out(l), units_in(l), 1, 1},
                       {{"depthwise", {units_in(l), 1, k, k}, uniform_for(1, k * k)}});
}

constexpr std::array rows{
    operator_entry{.name = "conv",
                   .summary = "convolution, norm, activation",
                   .details = "Beyond the edge it sees zeros.",
                   .output = "[filters, h', w']",
                   .costs = "c * filters * kernel^2 weights; c * kernel^2 "
                            "multiply-adds for each element that comes out",
                   .settings = conv_settings,
                   .units = unit_origin::made,
                   .takes = images,
                   .block = true,
                   .shape = conv_shape,
                   .cost = conv_cost,
                   .tensors = conv_tensors},
    operator_entry{.name = "separable_conv",
                   .word = "separable",
                   .summary = "depthwise then 1x1 convolution, norm, activation",
                   .details = "The depthwise convolution has the stride, the "
                              "dilation and no bias; beyond the edge it sees "
                              "zeros.",
                   .output = "[filters, h', w']",
                   .costs = "c * (kernel^2 + filters) weights; kernel^2 "
                            "multiply-adds and 4 bytes for each element between the two "
                            "convolutions, c multiply-adds for each that comes out",
                   .settings = conv_settings,
                   .units = unit_origin::made,
                   .takes = images,
                   .block = true,
                   .shape = conv_shape,
                   .cost = separable_cost,
                   .tensors = separable_tensors},
    operator_entry{.name = "depthwise_conv",
                   .word = "depthwise",
                   .summary = "one kernel per channel, norm, activation",
                   .details = "Beyond the edge it sees zeros.",
                   .output = "[c, h', w']",
                   .costs = "c * kernel^2 weights; kernel^2 multiply-adds for each "
                            "element that comes out",
                   .settings = depthwise_settings,
                   .takes = images,
                   .block = true,
                   .shape = depthwise_shape,
                   .cost = depthwise_cost,
                   .tensors = depthwise_tensors},
    operator_entry{.name = "max_pool",
                   .summary = "maximum of each window",
                   .details = "Only pixels or steps that exist count.",
                   .output = "[c, h', w'] or [t', c]",
                   .costs = "kernel^2 multiply-adds, of a sequence kernel, and 12 bytes "
                            "for each element that comes out",
                   .settings = pool_settings,
                   .takes = images_and_sequences,
                   .keeps_sign = true,
                   .shape = pool_shape,
                   .cost = max_pool_cost},
    operator_entry{.name = "avg_pool",
                   .summary = "mean of each window",
                   .details = "Only pixels or steps that exist count.",
                   .output = "[c, h', w'] or [t', c]",
                   .costs = "kernel^2 multiply-adds, of a sequence kernel, and 4 bytes "
                            "for each element that comes out",
                   .settings = pool_settings,
                   .takes = images_and_sequences,
                   .keeps_sign = true,
                   .shape = pool_shape,
                   .cost = avg_pool_cost},
    operator_entry{.name = "global_avg_pool",
                   .summary = "mean of each channel",
                   .output = "[c]",
                   .costs = "a multiply-add for each element that enters, 4 bytes "
                            "for each channel",
                   .takes = images_and_sequences,
                   .gives = layout::vector,
                   .keeps_sign = true,
                   .shape = channels_alone,
                   .cost = mean_cost},
    operator_entry{.name = "global_max_pool",
                   .summary = "maximum of each channel",
                   .output = "[c]",
                   .costs = "a multiply-add for each element that enters, 12 bytes "
                            "for each channel",
                   .takes = images_and_sequences,
                   .gives = layout::vector,
                   .keeps_sign = true,
                   .shape = channels_alone,
                   .cost = global_max_cost},
};

} // namespace

std::span<const operator_entry> image_operators() {
  return rows;
}

} // namespace clade
