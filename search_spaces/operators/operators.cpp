// The rows of operators that are one layer. Their settings are in operator_settings.hpp,
// the rules that compute shapes and costs in operator_rules.cpp, the rows of operators
// that are several layers in image_composites.cpp and table_composites.cpp.
#include "search_spaces/operators/operators.hpp"

#include "search_spaces/operators/composite_operators.hpp"
#include "search_spaces/operators/operator_rules.hpp"
#include "search_spaces/operators/operator_settings.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

namespace clade {

namespace {

using namespace operator_settings;

constexpr std::array<std::string_view, 3> mixtures{"probabilities",
                                                   "bounded_probabilities", "values"};
constexpr setting_entry of_entry{.name = "of",
                                 .type = setting_entry::kind::text,
                                 .words = mixtures,
                                 .sentence = "What is weighed."};
constexpr std::array mixture_settings{of_entry};

constexpr std::array single_layers{
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
    operator_entry{.name = "channel_norm",
                   .summary = "normalizes each pixel",
                   .details = "Over its channels; then a weight and a bias for each "
                              "channel. Epsilon 1e-5.",
                   .output = "the same shape",
                   .costs = "2 parameters for each channel; a multiply-add and 4 bytes "
                            "for each element",
                   .takes = images,
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
    operator_entry{.name = "multiply",
                   .summary = "product",
                   .details = "All inputs but the last may have one pixel, which stands "
                              "for every one.",
                   .output = "the shape of the last input",
                   .costs = "a multiply-add for each element of all inputs but one; 4 "
                            "bytes for each element that comes out",
                   .role = operator_role::adapter,
                   .merges = true,
                   .keeps_sign = true,
                   .shape = operator_rules::shape_of_last,
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
                              "their softmax probabilities, divided by a temperature, "
                              "where bounded with no probability below the least; of "
                              "numbers the weighed sum.",
                   .output = "the same shape",
                   .costs = "a multiply-add for each element of each member",
                   .settings = mixture_settings,
                   .role = operator_role::adapter,
                   .takes = vectors,
                   .merges = true,
                   .shape = operator_rules::same,
                   .cost = operator_rules::mixture_cost},
    operator_entry{.name = "select",
                   .summary = "some of the features",
                   .output = "[outputs]",
                   .costs = "4 bytes for each feature that comes out",
                   .settings = outputs_settings,
                   .role = operator_role::adapter,
                   .units = unit_origin::selected,
                   .takes = vectors,
                   .keeps_sign = true,
                   .shape = operator_rules::outputs_shape,
                   .cost = operator_rules::kept},
    operator_entry{.name = "piecewise",
                   .summary = "how far each feature is through each of its bins",
                   .details = "0 before the bin, 1 behind it. Edges are quantiles of the "
                              "training part.",
                   .output = "[n * bins]",
                   .costs = "a multiply-add and 8 bytes for each feature that comes out",
                   .settings = piecewise_settings,
                   .role = operator_role::adapter,
                   .units = unit_origin::spread,
                   .takes = vectors,
                   .shape = operator_rules::piecewise_shape,
                   .cost = operator_rules::piecewise_cost},
    operator_entry{.name = "periodic",
                   .summary = "cosines and sines of each feature",
                   .output = "[2 * n * frequencies]",
                   .costs = "n * frequencies parameters and multiply-adds; 10 bytes for "
                            "each feature that comes out",
                   .settings = periodic_settings,
                   .role = operator_role::adapter,
                   .units = unit_origin::spread,
                   .takes = vectors,
                   .shape = operator_rules::periodic_shape,
                   .cost = operator_rules::periodic_cost},
    operator_entry{.name = "map_each",
                   .summary = "a linear map of each group of features",
                   .details = "With a bias.",
                   .output = "[groups * width]",
                   .costs = "n / groups + 1 parameters, n / groups multiply-adds and 4 "
                            "bytes for each feature that comes out",
                   .settings = map_each_settings,
                   .role = operator_role::adapter,
                   .units = unit_origin::spread,
                   .takes = vectors,
                   .shape = operator_rules::map_each_shape,
                   .cost = operator_rules::map_each_cost},
    operator_entry{.name = "boosted_trees",
                   .summary = "sums of what trees say",
                   .details = "Which features trees look at, and at which thresholds, is "
                              "drawn at first and stays; what their leaves say is "
                              "learnt. Nothing before them is learnt through them.",
                   .output = "[width]",
                   .costs = "trees * width * 2^depth parameters; depth multiply-adds and "
                            "12 bytes for each of the trees * width trees, 4 bytes for "
                            "each feature that comes out",
                   .settings = boosted_trees_settings,
                   .units = unit_origin::together,
                   .takes = vectors,
                   .shape = operator_rules::boosted_trees_shape,
                   .cost = operator_rules::boosted_trees_cost},
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
  static const auto all = [] {
    std::vector<operator_entry> rows(single_layers.begin(), single_layers.end());
    for (const auto composites : {image_composites(), table_composites()})
      rows.insert(rows.end(), composites.begin(), composites.end());
    return rows;
  }();
  return all;
}

bool operator_entry::works_on(std::optional<layout> l) const {
  return std::ranges::find(takes, l) != takes.end();
}

const operator_entry* find_operator(std::string_view name) {
  const auto found = std::ranges::find(operators(), name, &operator_entry::name);
  return found == operators().end() ? nullptr : &*found;
}

const operator_entry* find_adapter(layout from, layout to) {
  const auto found = std::ranges::find_if(operators(), [&](const operator_entry& o) {
    return o.role == operator_role::adapter && o.takes.size() == 1
           && o.takes.front() == from && o.gives == to;
  });
  return found == operators().end() ? nullptr : &*found;
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
