// Convolutions of sequences. Their pools are those of images.
#include "search_spaces/operators/operator_rows.hpp"
#include "search_spaces/rows/operator_rules.hpp"
#include "search_spaces/rows/operator_settings.hpp"

#include <array>

namespace clade {

namespace {

using namespace operator_rules;
using namespace operator_settings;

constexpr setting_entry steps_dilation_entry{
    .name = "dilation",
    .low = 1,
    .high = 64,
    .fallback = 1,
    .sentence = "The distance of the steps that a kernel sees."};
constexpr setting_entry steps_kernel_entry{
    .name = "kernel",
    .low = 1,
    .high = 63,
    .fallback = 3,
    .odd = true,
    .sentence = "The steps that it sees, cut to those that exist."};

constexpr std::array<std::string_view, 2> seen_steps{"around", "before"};
constexpr setting_entry sees_entry{
    .name = "sees",
    .type = kind::text,
    .words = seen_steps,
    .sentence = "around: the steps on both sides; before: none that comes later."};
constexpr setting_entry groups_entry{
    .name = "groups",
    .low = 1,
    .high = widest,
    .fallback = 4,
    .sentence = "Groups of neighboring features, each of which makes its own of what "
                "comes out; the largest number up to it that divides both."};

constexpr std::array conv1d_settings{
    activation_entry, steps_dilation_entry, filters_entry, steps_kernel_entry,
    norm_entry,       sees_entry,           stride_entry};
constexpr std::array grouped_settings{
    activation_entry,   steps_dilation_entry, filters_entry, groups_entry,
    steps_kernel_entry, norm_entry,           sees_entry,    stride_entry};

tensor_shape conv1d_shape(shapes in, const settings_list& settings) {
  return {
      {windows(in[0].sizes[0], integer_setting(settings, "kernel"),
               integer_setting(settings, "stride"), integer_setting(settings, "dilation"))
           .out,
       integer_setting(settings, "filters")}};
}

layer_cost conv1d_cost(shapes in, const tensor_shape& out,
                       const settings_list& settings) {
  auto cost = after_map(out, settings);
  cost.multiply_adds += natural(in[0].units() * integer_setting(settings, "kernel"))
                        * natural(out.elements());
  return cost;
}

tensor_entries conv1d_tensors(const layer& l) {
  return block_tensors(
      l, {units_out(l), units_in(l), integer_setting(l.settings, "kernel")});
}

std::int64_t inputs_of_group(const tensor_shape& in, const settings_list& settings) {
  return in.units()
         / groups_of(in.units(), integer_setting(settings, "filters"),
                     integer_setting(settings, "groups"));
}

layer_cost grouped_cost(shapes in, const tensor_shape& out,
                        const settings_list& settings) {
  auto cost = after_map(out, settings);
  cost.multiply_adds +=
      natural(inputs_of_group(in[0], settings) * integer_setting(settings, "kernel"))
      * natural(out.elements());
  return cost;
}

tensor_entries grouped_tensors(const layer& l) {
  return block_tensors(l, {units_out(l), inputs_of_group(l.in.front(), l.settings),
                           integer_setting(l.settings, "kernel")});
}

constexpr std::array rows{
    operator_entry{.name = "conv1d",
                   .summary = "convolution over time, norm, activation",
                   .details = "Beyond both ends it sees zeros.",
                   .output = "[t', filters]",
                   .costs = "c * filters * kernel weights; c * kernel multiply-adds for "
                            "each element that comes out",
                   .settings = conv1d_settings,
                   .units = unit_origin::made,
                   .takes = sequences,
                   .block = true,
                   .shape = conv1d_shape,
                   .cost = conv1d_cost,
                   .tensors = conv1d_tensors},
    operator_entry{.name = "grouped_conv1d",
                   .summary = "convolution over time within groups, norm, activation",
                   .details = "Beyond both ends it sees zeros. With as many groups as "
                              "features it is a depthwise convolution.",
                   .output = "[t', filters]",
                   .costs = "c / groups * filters * kernel weights; c / groups * kernel "
                            "multiply-adds for each element that comes out",
                   .settings = grouped_settings,
                   .units = unit_origin::together,
                   .takes = sequences,
                   .block = true,
                   .shape = conv1d_shape,
                   .cost = grouped_cost,
                   .tensors = grouped_tensors},
};

} // namespace

std::span<const operator_entry> sequence_operators() {
  return rows;
}

} // namespace clade
