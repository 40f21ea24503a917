// The composites for images. Each row names a function that lists the operator's layers.
// A layer's place in the list is its number, counted from 1; 0 stands for what enters the
// operator. Layers that are repeated have the number of their repetition in front of
// their names, so that a child with one repetition more finds its parent's layers again.
//
// A branch that is added to what it branched off ends with a layer that gives 0 at first
// where the branch is new in a trained network (layer_part::joins_at_zero): a repetition
// more computes what was computed without it.
#include "search_spaces/operators/operator_rows.hpp"
#include "search_spaces/rows/operator_settings.hpp"
#include "search_spaces/rows/part_assembly.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace clade {

namespace {

using namespace operator_settings;

using settings_list = std::vector<setting>;
using parts = std::vector<layer_part>;

constexpr setting_entry expansion_entry{
    .name = "expansion",
    .low = 1,
    .high = 8,
    .fallback = 4,
    .sentence = "Channels within the block for each channel that enters it."};
constexpr setting_entry wide_kernel_entry{.name = "kernel",
                                          .low = 1,
                                          .high = 15,
                                          .fallback = 7,
                                          .odd = true,
                                          .sentence = kernel_entry.sentence};
constexpr setting_entry squeeze_entry{
    .name = "squeeze",
    .type = kind::real,
    .low = 0,
    .high = 1,
    .fallback = 0.25,
    .sentence = "The share of the inner channels that squeeze-and-excitation computes "
                "with; 0 leaves it out."};
constexpr std::array<std::string_view, 2> block_kinds{"basic", "bottleneck"};
constexpr setting_entry block_entry{
    .name = "block",
    .type = kind::text,
    .words = block_kinds,
    .sentence = "basic: two convolutions with the kernel; bottleneck: one, of a quarter "
                "of the filters, between two of kernel 1."};
constexpr std::array residual_settings{sum_activation_entry, block_entry,
                                       block_filters_entry,  kernel_entry,
                                       repeats_entry,        stride_entry};
constexpr std::array inverted_settings{
    inner_activation_entry, expansion_entry, block_filters_entry, kernel_entry,
    repeats_entry,          squeeze_entry,   stride_entry};
constexpr std::array convnext_settings{expansion_entry, block_filters_entry,
                                       wide_kernel_entry, repeats_entry, stride_entry};

settings_list depthwise(std::int64_t kernel, std::int64_t stride,
                        const std::string& activation, const char* norm) {
  return {{"activation", activation},
          {"kernel", kernel},
          {"norm", std::string(norm)},
          {"stride", stride}};
}

parts residual_parts(const composite_input& in, const settings_list& settings) {
  const auto filters = integer_setting(settings, "filters");
  const auto kernel = integer_setting(settings, "kernel");
  const auto& activation = text_setting(settings, "activation");
  const bool bottleneck = text_setting(settings, "block") == "bottleneck";
  part_assembly all;
  return repeated(in, settings, all, [&](std::int64_t channels, std::int64_t stride) {
    const auto before = all.last();
    if (bottleneck) {
      const auto inner = std::max<std::int64_t>(filters / 4, 1);
      all.then("conv1", "conv", convolution(inner, 1, 1, activation));
      all.then("conv2", "conv", convolution(inner, kernel, stride, activation));
      all.then("conv3", "conv", convolution(filters, 1, 1, "none")).joins_at_zero = true;
    } else {
      all.then("conv1", "conv", convolution(filters, kernel, stride, activation));
      all.then("conv2", "conv", convolution(filters, kernel, 1, "none")).joins_at_zero =
          true;
    }
    all.add_to_entry(before, stride != 1 || channels != filters, "conv",
                     convolution(filters, 1, stride, "none"));
    all.activate("activation", activation);
  });
}

/// A gate for each channel of the last layer, by what all its pixels say.
void squeeze_and_excite(part_assembly& all, std::int64_t channels, double share) {
  const auto image = all.last();
  const auto squeezed =
      std::max<std::int64_t>(std::llround(share * static_cast<double>(channels)), 1);
  all.then("pool", "global_avg_pool");
  all.then("squeeze", "dense", {{"activation", "relu"}, {"units", squeezed}});
  all.then("excite", "dense", {{"activation", "sigmoid"}, {"units", channels}});
  all.then("gates", "as_image");
  all.join("multiply", "multiply", {all.last(), image});
}

parts inverted_parts(const composite_input& in, const settings_list& settings) {
  const auto filters = integer_setting(settings, "filters");
  const auto expansion = integer_setting(settings, "expansion");
  const auto& activation = text_setting(settings, "activation");
  const auto squeeze = real_setting(settings, "squeeze");
  part_assembly all;
  return repeated(in, settings, all, [&](std::int64_t channels, std::int64_t stride) {
    const auto before = all.last();
    const bool skips = stride == 1 && channels == filters;
    const auto inner = channels * expansion;
    if (expansion > 1)
      all.then("expand", "conv", convolution(inner, 1, 1, activation));
    all.then("depthwise", "depthwise_conv",
             depthwise(integer_setting(settings, "kernel"), stride, activation, "batch"));
    if (squeeze > 0)
      squeeze_and_excite(all, inner, squeeze);
    all.then("reduce", "conv", convolution(filters, 1, 1, "none")).joins_at_zero = skips;
    if (skips)
      all.add_to(before);
  });
}

parts convnext_parts(const composite_input& in, const settings_list& settings) {
  const auto filters = integer_setting(settings, "filters");
  const auto inner = filters * integer_setting(settings, "expansion");
  part_assembly all;
  return repeated(in, settings, all, [&](std::int64_t channels, std::int64_t stride) {
    if (stride != 1 || channels != filters) {
      all.then("entry_norm", "channel_norm");
      all.then("entry", "conv",
               convolution(filters, stride == 1 ? 1 : 3, stride, "none", "none"));
    }
    const auto before = all.last();
    all.then("depthwise", "depthwise_conv",
             depthwise(integer_setting(settings, "kernel"), 1, "none", "none"));
    all.then("norm", "channel_norm");
    all.then("expand", "conv", convolution(inner, 1, 1, "gelu", "none"));
    all.then("reduce", "conv", convolution(filters, 1, 1, "none", "none")).joins_at_zero =
        true;
    all.add_to(before);
  });
}

constexpr std::array table{
    operator_entry{.name = "residual",
                   .summary = "blocks of convolutions, each added to what enters it",
                   .details = "As in ResNet: convolutions with batch norm, the sum with "
                              "what entered, activation. Where stride or channels "
                              "change, a convolution of kernel 1 with batch norm is on "
                              "the skip. A branch that is new in a trained network "
                              "adds nothing at first.",
                   .output = "[filters, h', w']",
                   .costs = "what its convolutions, norms, sums and activations cost",
                   .settings = residual_settings,
                   .units = unit_origin::made,
                   .takes = images,
                   .parts = residual_parts},
    operator_entry{.name = "inverted_residual",
                   .summary = "blocks of wide and cheap convolutions, with gates",
                   .details = "As in MobileNet: a convolution of kernel 1 to `expansion` "
                              "times the channels, a depthwise one, "
                              "squeeze-and-excitation, a convolution of kernel 1 to the "
                              "filters, each convolution with batch norm. What entered "
                              "is added where it has the same shape.",
                   .output = "[filters, h', w']",
                   .costs = "what its convolutions, norms, gates and sums cost",
                   .settings = inverted_settings,
                   .units = unit_origin::made,
                   .takes = images,
                   .parts = inverted_parts},
    operator_entry{.name = "convnext",
                   .summary =
                       "blocks of a large depthwise convolution and two small ones",
                   .details = "As in ConvNeXt: depthwise convolution, channel_norm, a "
                              "convolution of kernel 1 to `expansion` times the filters, "
                              "gelu, one of kernel 1 back to the filters, and the sum "
                              "with what entered. Where stride or channels change, "
                              "channel_norm and a convolution come before.",
                   .output = "[filters, h', w']",
                   .costs = "what its convolutions, norms and sums cost",
                   .settings = convnext_settings,
                   .units = unit_origin::made,
                   .takes = images,
                   .parts = convnext_parts},
};

} // namespace

std::span<const operator_entry> image_composites() {
  return table;
}

} // namespace clade
