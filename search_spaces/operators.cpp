// The table of operators: their settings, then their rows. The rules that compute shapes
// and costs are in operator_rules.cpp.
#include "search_spaces/operators.hpp"

#include "search_spaces/operator_rules.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

namespace clade {

namespace {

using kind = setting_entry::kind;

constexpr std::array<std::string_view, 8> activations{
    "none", "relu", "leaky_relu", "elu", "gelu", "silu", "tanh", "sigmoid"};
constexpr std::array<std::string_view, 7> functions{
    "relu", "leaky_relu", "elu", "gelu", "silu", "tanh", "sigmoid"};
constexpr std::array<std::string_view, 3> norms{"none", "batch", "layer"};

constexpr double widest = 65536;

constexpr setting_entry activation_entry{
    .name = "activation",
    .type = kind::text,
    .words = activations,
    .sentence = "The function of each element, after the norm; the operator activation "
                "is it alone."};
constexpr setting_entry dilation_entry{
    .name = "dilation",
    .low = 1,
    .high = 16,
    .fallback = 1,
    .sentence = "The distance of the pixels that a kernel sees."};
constexpr setting_entry filters_entry{.name = "filters",
                                      .low = 1,
                                      .high = widest,
                                      .fallback = 16,
                                      .width = true,
                                      .sentence = "Channels that come out."};
constexpr setting_entry kernel_entry{
    .name = "kernel",
    .low = 1,
    .high = 15,
    .fallback = 3,
    .odd = true,
    .sentence = "Its height and width, cut to the pixels that exist."};
constexpr setting_entry norm_entry{
    .name = "norm",
    .type = kind::text,
    .words = norms,
    .sentence =
        "What the operator batch_norm or layer_norm does, before the activation."};
constexpr setting_entry stride_entry{
    .name = "stride",
    .low = 1,
    .high = 8,
    .fallback = 1,
    .sentence = "The distance of windows: h' = ceil(h / stride), and w' likewise."};
constexpr setting_entry outputs_entry{.name = "outputs",
                                      .low = 1,
                                      .high = widest,
                                      .fallback = 1,
                                      .sentence = "As many as it must give."};
constexpr setting_entry pool_kernel_entry{.name = "kernel",
                                          .low = 2,
                                          .high = 15,
                                          .fallback = 2,
                                          .sentence = "A window's height and width."};
constexpr setting_entry pool_stride_entry{.name = "stride",
                                          .low = 1,
                                          .high = 8,
                                          .fallback = 2,
                                          .sentence = stride_entry.sentence};
constexpr setting_entry units_entry{.name = "units",
                                    .low = 1,
                                    .high = widest,
                                    .fallback = 64,
                                    .width = true,
                                    .sentence = "Features that come out."};
constexpr setting_entry function_entry{
    .name = "function",
    .type = kind::text,
    .words = functions,
    .sentence = "leaky_relu has the slope 0.01, elu alpha 1; gelu is exact, by erf."};
constexpr setting_entry rate_entry{.name = "rate",
                                   .type = kind::real,
                                   .low = 0,
                                   .high = 0.95,
                                   .fallback = 0.2,
                                   .sentence = "The share that is forgotten."};
constexpr setting_entry height_entry{.name = "height",
                                     .low = 1,
                                     .high = widest,
                                     .fallback = 1,
                                     .sentence = "Rows that come out."};
constexpr setting_entry width_entry{.name = "width",
                                    .low = 1,
                                    .high = widest,
                                    .fallback = 1,
                                    .sentence = "Columns that come out."};

constexpr std::array conv_settings{activation_entry, dilation_entry, filters_entry,
                                   kernel_entry,     norm_entry,     stride_entry};
constexpr std::array depthwise_settings{activation_entry, dilation_entry, kernel_entry,
                                        norm_entry, stride_entry};
constexpr std::array pool_settings{pool_kernel_entry, pool_stride_entry};
constexpr std::array dense_settings{activation_entry, norm_entry, units_entry};
constexpr std::array activation_settings{function_entry};
constexpr std::array dropout_settings{rate_entry};
constexpr std::array resize_settings{height_entry, width_entry};
constexpr std::array outputs_settings{outputs_entry};

constexpr std::array<std::string_view, 2> mixtures{"probabilities", "values"};
constexpr setting_entry of_entry{
    .name = "of", .type = kind::text, .words = mixtures, .sentence = "What is weighed."};
constexpr std::array mixture_settings{of_entry};

constexpr std::array images{layout::image};
constexpr std::array vectors{layout::vector};

constexpr std::array table{
    operator_entry{.name = "input",
                   .summary = "the examples",
                   .output = "the examples' shape",
                   .costs = "4 bytes for each element",
                   .role = operator_role::input,
                   .shape = operator_rules::same,
                   .cost = operator_rules::kept},
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
                   .shape = operator_rules::conv_shape,
                   .cost = operator_rules::conv_cost},
    operator_entry{.name = "separable_conv",
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
                   .shape = operator_rules::conv_shape,
                   .cost = operator_rules::separable_cost},
    operator_entry{.name = "depthwise_conv",
                   .summary = "one kernel per channel, norm, activation",
                   .details = "Beyond the edge it sees zeros.",
                   .output = "[c, h', w']",
                   .costs = "c * kernel^2 weights; kernel^2 multiply-adds for each "
                            "element that comes out",
                   .settings = depthwise_settings,
                   .takes = images,
                   .block = true,
                   .shape = operator_rules::depthwise_shape,
                   .cost = operator_rules::depthwise_cost},
    operator_entry{.name = "max_pool",
                   .summary = "maximum of each window",
                   .details = "Only pixels that exist count.",
                   .output = "[c, h', w']",
                   .costs = "kernel^2 multiply-adds and 12 bytes for each element "
                            "that comes out",
                   .settings = pool_settings,
                   .takes = images,
                   .keeps_sign = true,
                   .shape = operator_rules::pool_shape,
                   .cost = operator_rules::max_pool_cost},
    operator_entry{.name = "avg_pool",
                   .summary = "mean of each window",
                   .details = "Only pixels that exist count.",
                   .output = "[c, h', w']",
                   .costs = "kernel^2 multiply-adds and 4 bytes for each element "
                            "that comes out",
                   .settings = pool_settings,
                   .takes = images,
                   .keeps_sign = true,
                   .shape = operator_rules::pool_shape,
                   .cost = operator_rules::avg_pool_cost},
    operator_entry{.name = "global_avg_pool",
                   .summary = "mean of each channel",
                   .output = "[c]",
                   .costs = "a multiply-add for each element that enters, 4 bytes "
                            "for each channel",
                   .takes = images,
                   .gives = layout::vector,
                   .keeps_sign = true,
                   .shape = operator_rules::channels_alone,
                   .cost = operator_rules::global_avg_cost},
    operator_entry{.name = "global_max_pool",
                   .summary = "maximum of each channel",
                   .output = "[c]",
                   .costs = "a multiply-add for each element that enters, 12 bytes "
                            "for each channel",
                   .takes = images,
                   .gives = layout::vector,
                   .keeps_sign = true,
                   .shape = operator_rules::channels_alone,
                   .cost = operator_rules::global_max_cost},
    operator_entry{.name = "dense",
                   .summary = "linear map, norm, activation",
                   .output = "[units]",
                   .costs = "n * units weights and multiply-adds",
                   .settings = dense_settings,
                   .units = unit_origin::made,
                   .takes = vectors,
                   .block = true,
                   .shape = operator_rules::dense_shape,
                   .cost = operator_rules::dense_cost},
    operator_entry{.name = "batch_norm",
                   .summary = "normalizes each channel over the batch",
                   .details = "Of a vector, each feature; then a weight and a "
                              "bias. Momentum 0.1, epsilon 1e-5.",
                   .output = "the same shape",
                   .costs = "2 parameters for each channel or feature; a "
                            "multiply-add and 4 bytes for each element",
                   .shape = operator_rules::same,
                   .cost = operator_rules::norm_cost},
    operator_entry{.name = "layer_norm",
                   .summary = "normalizes each example",
                   .details = "Over all its elements; then a weight and a bias for "
                              "each channel or feature. Epsilon 1e-5.",
                   .output = "the same shape",
                   .costs = "2 parameters for each channel or feature; a "
                            "multiply-add and 4 bytes for each element",
                   .shape = operator_rules::same,
                   .cost = operator_rules::norm_cost},
    operator_entry{.name = "activation",
                   .summary = "a function of each element",
                   .output = "the same shape",
                   .costs = "4 bytes for each element",
                   .settings = activation_settings,
                   .shape = operator_rules::same,
                   .cost = operator_rules::kept},
    operator_entry{.name = "dropout",
                   .summary = "forgets elements at random while training",
                   .details = "While training, an element becomes 0 with the "
                              "probability `rate`, and is else divided by 1 - "
                              "rate.",
                   .output = "the same shape",
                   .costs = "5 bytes for each element",
                   .settings = dropout_settings,
                   .units = unit_origin::kept,
                   .keeps_sign = true,
                   .shape = operator_rules::same,
                   .cost = operator_rules::dropout_cost},
    operator_entry{.name = "add",
                   .summary = "sum",
                   .output = "the same shape",
                   .costs = "a multiply-add for each element of all inputs but "
                            "one; 4 bytes for each element that comes out",
                   .role = operator_role::adapter,
                   .merges = true,
                   .keeps_sign = true,
                   .shape = operator_rules::same,
                   .cost = operator_rules::add_cost},
    operator_entry{.name = "concat",
                   .summary = "joins along channels or features",
                   .output = "the same, with the sum of all c or n",
                   .costs = "4 bytes for each element",
                   .role = operator_role::adapter,
                   .units = unit_origin::joined,
                   .merges = true,
                   .keeps_sign = true,
                   .shape = operator_rules::concat_shape,
                   .cost = operator_rules::kept},
    operator_entry{.name = "flatten",
                   .summary = "image to vector",
                   .details = "Row by row, channel after channel.",
                   .output = "[c * h * w]",
                   .costs = "nothing",
                   .role = operator_role::adapter,
                   .units = unit_origin::flattened,
                   .takes = images,
                   .gives = layout::vector,
                   .keeps_sign = true,
                   .shape = operator_rules::flat_shape,
                   .cost = operator_rules::free_of_charge},
    operator_entry{.name = "as_image",
                   .summary = "vector to image of one pixel",
                   .output = "[n, 1, 1]",
                   .costs = "nothing",
                   .role = operator_role::adapter,
                   .units = unit_origin::kept,
                   .takes = vectors,
                   .gives = layout::image,
                   .keeps_sign = true,
                   .shape = operator_rules::pixel_shape,
                   .cost = operator_rules::free_of_charge},
    operator_entry{.name = "resize",
                   .summary = "adaptive average pool",
                   .details = "Row i is the mean of the rows from floor(i * h / "
                              "height) to ceil((i + 1) * h / height) - 1; columns "
                              "likewise.",
                   .output = "[c, height, width]",
                   .costs = "a multiply-add for each element that enters, 4 bytes "
                            "for each that comes out",
                   .settings = resize_settings,
                   .role = operator_role::adapter,
                   .takes = images,
                   .keeps_sign = true,
                   .shape = operator_rules::resize_shape,
                   .cost = operator_rules::global_avg_cost},
    operator_entry{.name = "project",
                   .summary = "linear map of channels or features",
                   .details = "With a bias; of an image, at each pixel.",
                   .output = "[outputs, h, w] or [outputs]",
                   .costs = "(c + 1) * outputs parameters; c multiply-adds and 4 "
                            "bytes for each element that comes out; of a vector n "
                            "for c",
                   .settings = outputs_settings,
                   .role = operator_role::adapter,
                   .units = unit_origin::fitted,
                   .shape = operator_rules::outputs_shape,
                   .cost = operator_rules::map_cost},
    operator_entry{.name = "mixture",
                   .summary = "what the members of an ensemble say, weighed",
                   .details = "Of scores of classes the logarithm of the weighed sum of "
                              "their softmax probabilities, divided by a temperature; "
                              "of numbers the weighed sum.",
                   .output = "the same shape",
                   .costs = "a weight for each member and the temperature; a "
                            "multiply-add for each element of each member",
                   .settings = mixture_settings,
                   .role = operator_role::adapter,
                   .takes = vectors,
                   .merges = true,
                   .shape = operator_rules::same,
                   .cost = operator_rules::mixture_cost},
    operator_entry{.name = "output",
                   .summary = "linear map to classes or targets",
                   .details = "With a bias; it gives logits or standardized "
                              "targets.",
                   .output = "[outputs]",
                   .costs = "(n + 1) * outputs parameters; n multiply-adds and 4 "
                            "bytes for each output",
                   .settings = outputs_settings,
                   .role = operator_role::output,
                   .units = unit_origin::made,
                   .takes = vectors,
                   .shape = operator_rules::outputs_shape,
                   .cost = operator_rules::map_cost},
};

} // namespace

std::span<const operator_entry> operators() {
  return table;
}

bool operator_entry::works_on(std::optional<layout> l) const {
  return std::ranges::find(takes, l) != takes.end();
}

const operator_entry* find_operator(std::string_view name) {
  const auto found = std::ranges::find(table, name, &operator_entry::name);
  return found == table.end() ? nullptr : &*found;
}

const operator_entry* find_adapter(layout from, layout to) {
  const auto found = std::ranges::find_if(table, [&](const operator_entry& o) {
    return o.role == operator_role::adapter && o.takes.size() == 1
           && o.takes.front() == from && o.gives == to;
  });
  return found == table.end() ? nullptr : &*found;
}

const operator_entry& operator_of(const layer& l) {
  const auto* found = find_operator(l.op);
  if (found == nullptr) {
    std::fprintf(stderr, "clade: a layer of the unknown operator '%s'\n", l.op.c_str());
    std::abort();
  }
  return *found;
}

window_places windows(std::int64_t size, std::int64_t kernel, std::int64_t stride,
                      std::int64_t dilation) {
  const auto out = (size + stride - 1) / stride;
  const auto before = dilation * (kernel - 1) / 2;
  const auto end = (out - 1) * stride - before + dilation * (kernel - 1) + 1;
  return {.out = out, .before = before, .after = std::max<std::int64_t>(end - size, 0)};
}

} // namespace clade
