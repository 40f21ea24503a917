// The composites for sequences, in the form that image_composites.cpp explains. The residual
// block is the one of Wang et al., "Time series classification from scratch" (2017), with two
// convolutions; inception1d is a residual block of InceptionTime (Ismail Fawaz et al., 2020);
// transformer has its norms in front, as the one of Dosovitskiy et al. (2021).
#include "search_spaces/operators/operator_rows.hpp"
#include "search_spaces/rows/operator_settings.hpp"
#include "search_spaces/rows/part_assembly.hpp"

#include <algorithm>
#include <array>

namespace clade {

namespace {

using namespace operator_settings;

using settings_list = std::vector<setting>;
using parts = std::vector<layer_part>;

constexpr setting_entry long_kernel_entry{.name = "kernel",
                                          .low = 1,
                                          .high = 31,
                                          .fallback = 3,
                                          .odd = true,
                                          .sentence =
                                              "The steps that it sees, cut to those that "
                                              "exist."};
constexpr setting_entry inception_filters_entry{.name = "filters",
                                                .low = 4,
                                                .high = widest_composite,
                                                .fallback = 32,
                                                .width = true,
                                                .sentence =
                                                    "Features that come out of each "
                                                    "repetition, a quarter from each "
                                                    "branch."};
constexpr setting_entry inception_kernel_entry{
    .name = "kernel",
    .low = 3,
    .high = 63,
    .fallback = 31,
    .odd = true,
    .sentence = "The steps that the longest of three convolutions sees; the others see a "
                "half and a quarter of them."};
constexpr setting_entry modules_entry{
    .name = "repeats",
    .low = 1,
    .high = 4,
    .fallback = 2,
    .sentence = "How many modules there are between what enters "
                "and the sum; only the first has a stride."};

constexpr setting_entry transformer_units_entry{.name = "units",
                                                .low = 1,
                                                .high = widest_composite,
                                                .fallback = 64,
                                                .width = true,
                                                .sentence = "Features of each step."};
constexpr setting_entry expansion_entry{
    .name = "expansion",
    .low = 1,
    .high = 8,
    .fallback = 2,
    .sentence = "How many times as many features are in between."};
constexpr setting_entry blocks_entry{
    .name = "repeats",
    .low = 1,
    .high = 16,
    .fallback = 1,
    .sentence = "How many blocks there are, one behind the other."};

constexpr std::array transformer_settings{expansion_entry, heads_entry, blocks_entry,
                                          seen_entry, transformer_units_entry};
constexpr std::array residual1d_settings{sum_activation_entry, block_filters_entry,
                                         long_kernel_entry, repeats_entry, stride_entry};
constexpr std::array inception1d_settings{sum_activation_entry, inception_filters_entry,
                                          inception_kernel_entry, modules_entry,
                                          stride_entry};

parts residual1d_parts(const composite_input& in, const settings_list& settings) {
  const auto filters = integer_setting(settings, "filters");
  const auto kernel = integer_setting(settings, "kernel");
  const auto& activation = text_setting(settings, "activation");
  part_assembly all;
  return repeated(in, settings, all, [&](std::int64_t features, std::int64_t stride) {
    const auto before = all.last();
    all.then("conv1", "conv1d", convolution(filters, kernel, stride, activation));
    all.then("conv2", "conv1d", convolution(filters, kernel, 1, "none")).joins_at_zero =
        true;
    all.add_to_entry(before, stride != 1 || features != filters, "conv1d",
                     convolution(filters, 1, stride, "none"));
    all.activate("activation", activation);
  });
}

/// Returns the odd kernel that is about so long.
std::int64_t odd(std::int64_t steps) {
  return std::max<std::int64_t>(steps - 1, 0) / 2 * 2 + 1;
}

/// Convolutions of three lengths, and one of kernel 1 behind a pool, side by side.
void inception_module(part_assembly& all, const settings_list& settings,
                      std::int64_t features, std::int64_t stride) {
  const auto filters = integer_setting(settings, "filters");
  const auto kernel = integer_setting(settings, "kernel");
  const auto quarter = filters / 4;
  const auto entry = all.last();
  if (features > quarter)
    all.then("narrow", "conv1d", convolution(quarter, 1, 1, "none", "none"));
  const auto narrow = all.last();
  std::vector<part_assembly::index> branches;
  for (const std::int64_t shorter : {1, 2, 4}) {
    all.go_on_from(narrow);
    all.then(fmt::format("conv{}", branches.size() + 1), "conv1d",
             convolution(quarter, odd(kernel / shorter), stride, "none", "none"));
    branches.push_back(all.last());
  }
  all.go_on_from(entry);
  all.then("pool", "max_pool", {{"kernel", std::int64_t{3}}, {"stride", stride}});
  all.then("pooled", "conv1d", convolution(filters - 3 * quarter, 1, 1, "none", "none"));
  branches.push_back(all.last());
  all.join("joined", "concat", std::move(branches));
  all.then("norm", "batch_norm");
}

parts inception1d_parts(const composite_input& in, const settings_list& settings) {
  const auto filters = integer_setting(settings, "filters");
  const auto stride = integer_setting(settings, "stride");
  const auto repeats = integer_setting(settings, "repeats");
  const auto& activation = text_setting(settings, "activation");
  part_assembly all;
  for (std::int64_t i = 1; i <= repeats; ++i) {
    all.begin_repetition(i);
    const bool first = i == 1;
    inception_module(all, settings, first ? in.shape.units() : filters,
                     first ? stride : 1);
    if (i < repeats)
      all.activate("activation", activation);
  }
  all.end_repetitions();
  all.add_to_entry(0, true, "conv1d", convolution(filters, 1, stride, "none"));
  all.activate("activation", activation);
  return all.take();
}

parts transformer_parts(const composite_input& in, const settings_list& settings) {
  const auto units = integer_setting(settings, "units");
  const auto map = [](std::int64_t to, const char* activation) {
    return convolution(to, 1, 1, activation, "none");
  };
  part_assembly all;
  if (in.shape.units() != units)
    all.then("entry", "conv1d", map(units, "none"));
  for (std::int64_t i = 1; i <= integer_setting(settings, "repeats"); ++i) {
    all.begin_repetition(i);
    auto before = all.last();
    all.then("attention_norm", "channel_norm");
    all.then("attention", "attention",
             {{"heads", integer_setting(settings, "heads")},
              {"sees", text_setting(settings, "sees")},
              {"units", units}});
    all.then("joined_heads", "conv1d", map(units, "none")).joins_at_zero = true;
    all.add_to(before);
    before = all.last();
    all.then("norm", "channel_norm");
    all.then("expand", "conv1d",
             map(units * integer_setting(settings, "expansion"), "gelu"));
    all.then("reduce", "conv1d", map(units, "none")).joins_at_zero = true;
    all.add_to(before, "sum");
  }
  return all.take();
}

constexpr std::array table{
    operator_entry{.name = "residual1d",
                   .summary =
                       "blocks of convolutions over time, each added to what enters "
                       "it",
                   .details = "Two convolutions with batch norm, the sum with what "
                              "entered, activation. Where stride or features change, a "
                              "convolution of kernel 1 with batch norm is on the skip. A "
                              "branch that is new in a trained network adds nothing at "
                              "first.",
                   .output = "[t', filters]",
                   .costs = "what its convolutions, norms, sums and activations cost",
                   .settings = residual1d_settings,
                   .units = unit_origin::made,
                   .takes = sequences,
                   .parts = residual1d_parts},
    operator_entry{.name = "inception1d",
                   .summary = "convolutions over time of several lengths side by side",
                   .details = "As in InceptionTime: a module narrows what enters to a "
                              "quarter of the filters, convolves it with three kernels, "
                              "and beside them what enters with kernel 1 behind a max "
                              "pool of kernel 3; then batch norm and activation. Behind "
                              "the last one is the sum with what entered, through a "
                              "convolution of kernel 1 with batch norm, and then the "
                              "activation.",
                   .output = "[t', filters]",
                   .costs = "what its convolutions, pools, norms and sums cost",
                   .settings = inception1d_settings,
                   .units = unit_origin::made,
                   .takes = sequences,
                   .parts = inception1d_parts},
    operator_entry{.name = "transformer",
                   .summary = "blocks of attention and of a network for each step, both "
                              "added to what enters them",
                   .details =
                       "In front of each is a channel_norm. The network has a layer "
                       "of `expansion` times the units, with gelu. Where what "
                       "enters has other features, a map to the units comes "
                       "first. It knows no places: positions tells them.",
                   .output = "[t, units]",
                   .costs = "what its attention, maps, norms and sums cost",
                   .settings = transformer_settings,
                   .units = unit_origin::made,
                   .takes = sequences,
                   .parts = transformer_parts},
};

} // namespace

std::span<const operator_entry> sequence_composites() {
  return table;
}

} // namespace clade
