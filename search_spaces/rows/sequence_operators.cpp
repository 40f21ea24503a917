// Convolutions of sequences, and recurrent layers. Their pools are those of images.
#include "search_spaces/operators/operator_rows.hpp"
#include "search_spaces/rows/operator_rules.hpp"
#include "search_spaces/rows/operator_settings.hpp"

#include <array>
#include <cmath>

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

constexpr std::array conv1d_settings{activation_entry, steps_dilation_entry,
                                     filters_entry,    steps_kernel_entry,
                                     norm_entry,       stride_entry};

constexpr std::array<std::string_view, 2> directions{"forward", "both"};
constexpr setting_entry direction_entry{
    .name = "direction",
    .type = kind::text,
    .words = directions,
    .sentence = "forward: from the first step to the last; both: half of the units go "
                "from the last step to the first."};
constexpr std::array<std::string_view, 2> given_steps{"all", "last"};
constexpr setting_entry given_steps_entry{
    .name = "steps",
    .type = kind::text,
    .words = given_steps,
    .sentence = "all: what it says at each step; last: at the end alone, a vector."};
constexpr std::string_view recurrent_details =
    "As in LibTorch, whose order of gates it has. Of an odd number of units that go both "
    "ways there is one more.";
constexpr std::array recurrent_settings{direction_entry, given_steps_entry, units_entry};

bool goes_both_ways(const settings_list& settings) {
  return text_setting(settings, "direction") == "both";
}

/// The units of one direction.
std::int64_t hidden_units(const settings_list& settings) {
  const auto units = integer_setting(settings, "units");
  return goes_both_ways(settings) ? (units + 1) / 2 : units;
}

tensor_shape recurrent_shape(shapes in, const settings_list& settings) {
  const auto units = hidden_units(settings) * (goes_both_ways(settings) ? 2 : 1);
  if (text_setting(settings, "steps") == "last")
    return {{units}};
  return {{in[0].sizes[0], units}};
}

/// Each step computes so many gates of what enters and of what it said before, and the
/// backward pass reads the gates and the state.
template<std::int64_t Gates>
layer_cost recurrent_cost(shapes in, const tensor_shape& out,
                          const settings_list& settings) {
  const auto steps = natural(in[0].sizes[0]), units = natural(out.units());
  const auto inputs = natural(in[0].units() + hidden_units(settings));
  return {.multiply_adds = steps * units * Gates * inputs,
          .activation_bytes = float_bytes * steps * units * (Gates + 2)};
}

template<std::int64_t Gates>
tensor_entries recurrent_tensors(const layer& l) {
  const auto hidden = hidden_units(l.settings);
  const initial_values first{initial_values::kind::uniform,
                             1 / std::sqrt(static_cast<double>(hidden))};
  tensor_entries all{{"weight_ih_l0", {Gates * hidden, units_in(l)}, first},
                     {"weight_hh_l0", {Gates * hidden, hidden}, first},
                     {"bias_ih_l0", {Gates * hidden}, first},
                     {"bias_hh_l0", {Gates * hidden}, first}};
  if (goes_both_ways(l.settings)) {
    constexpr std::array<std::string_view, 4> backward{
        "weight_ih_l0_reverse", "weight_hh_l0_reverse", "bias_ih_l0_reverse",
        "bias_hh_l0_reverse"};
    for (std::size_t i = 0; i < backward.size(); ++i) {
      all.push_back(all[i]);
      all.back().role = backward[i];
    }
  }
  return all;
}

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
    operator_entry{.name = "gru",
                   .summary = "gated recurrent units",
                   .details = recurrent_details,
                   .output = "[t, units] or [units]",
                   .costs =
                       "3 * (c + units + 2) * units parameters and 3 * (c + units) * "
                       "units multiply-adds for each step, and 20 bytes for each "
                       "unit and step; those that go both ways see half of the "
                       "units",
                   .settings = recurrent_settings,
                   .units = unit_origin::together,
                   .takes = sequences,
                   .shape = recurrent_shape,
                   .cost = recurrent_cost<3>,
                   .tensors = recurrent_tensors<3>},
    operator_entry{.name = "lstm",
                   .summary = "long short-term memory",
                   .details = recurrent_details,
                   .output = "[t, units] or [units]",
                   .costs =
                       "4 * (c + units + 2) * units parameters and 4 * (c + units) * "
                       "units multiply-adds for each step, and 24 bytes for each "
                       "unit and step; those that go both ways see half of the "
                       "units",
                   .settings = recurrent_settings,
                   .units = unit_origin::together,
                   .takes = sequences,
                   .shape = recurrent_shape,
                   .cost = recurrent_cost<4>,
                   .tensors = recurrent_tensors<4>},
};

} // namespace

std::span<const operator_entry> sequence_operators() {
  return rows;
}

} // namespace clade
