// Recurrent layers of sequences: LibTorch's own, and cells of one state that a search for
// small networks likes (MGU: Zhou et al., "Minimal gated unit for recurrent neural networks",
// 2016; UGRNN: Collins et al., "Capacity and trainability in recurrent neural networks", 2017;
// delta: Ororbia et al., "Learning simpler language models with the differential state
// framework", 2017).
#include "search_spaces/operators/operator_rows.hpp"
#include "search_spaces/rows/operator_rules.hpp"
#include "search_spaces/rows/operator_settings.hpp"

#include <array>
#include <cmath>

namespace clade {

namespace {

using namespace operator_rules;
using namespace operator_settings;

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
constexpr std::array cell_settings{given_steps_entry, units_entry};
constexpr std::string_view gated_costs = "2 * (c + units + 1) * units parameters and 2 * "
                                         "(c + units) * units multiply-adds for "
                                         "each step, and 16 bytes for each unit and step";

bool goes_both_ways(const settings_list& settings) {
  const auto* direction = find(settings, "direction");
  return direction != nullptr && *direction == value(std::string("both"));
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

initial_values first_of(std::int64_t units) {
  return {initial_values::kind::uniform, 1 / std::sqrt(static_cast<double>(units))};
}

template<std::int64_t Gates>
tensor_entries recurrent_tensors(const layer& l) {
  const auto hidden = hidden_units(l.settings);
  const auto first = first_of(hidden);
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

/// So many maps for each unit of what enters and of the state, and their bias.
template<std::int64_t Maps>
tensor_entries cell_tensors(const layer& l) {
  const auto units = units_out(l);
  const auto first = first_of(units);
  return {{"weight_ih", {Maps * units, units_in(l)}, first},
          {"weight_hh", {Maps * units, units}, first},
          {"bias", {Maps * units}}};
}
tensor_entries delta_tensors(const layer& l) {
  auto all = cell_tensors<1>(l);
  all.push_back({"bias_gate", {units_out(l)}});
  for (const auto* role : {"product", "of_state", "of_input"})
    all.push_back({role, {units_out(l)}, {.by = 1}});
  return all;
}

constexpr std::array rows{
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
                   .by_step = true,
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
                   .by_step = true,
                   .shape = recurrent_shape,
                   .cost = recurrent_cost<4>,
                   .tensors = recurrent_tensors<4>},
    operator_entry{.name = "rnn",
                   .summary = "simple recurrent units",
                   .details =
                       "Each is the tanh of maps of what enters and of the state. As "
                       "in LibTorch; of an odd number of units that go both ways "
                       "there is one more.",
                   .output = "[t, units] or [units]",
                   .costs = "(c + units + 2) * units parameters and (c + units) * units "
                            "multiply-adds for each step, and 12 bytes for each unit and "
                            "step; those that go both ways see half of the units",
                   .settings = recurrent_settings,
                   .units = unit_origin::together,
                   .takes = sequences,
                   .by_step = true,
                   .shape = recurrent_shape,
                   .cost = recurrent_cost<1>,
                   .tensors = recurrent_tensors<1>},
    operator_entry{.name = "mgu",
                   .summary = "minimal gated units",
                   .details = "One gate says what is forgotten and what is new.",
                   .output = "[t, units] or [units]",
                   .costs = gated_costs,
                   .settings = cell_settings,
                   .units = unit_origin::together,
                   .takes = sequences,
                   .by_step = true,
                   .shape = recurrent_shape,
                   .cost = recurrent_cost<2>,
                   .tensors = cell_tensors<2>},
    operator_entry{.name = "ugrnn",
                   .summary = "update-gate recurrent units",
                   .details = "One gate says how much of the state stays.",
                   .output = "[t, units] or [units]",
                   .costs = gated_costs,
                   .settings = cell_settings,
                   .units = unit_origin::together,
                   .takes = sequences,
                   .by_step = true,
                   .shape = recurrent_shape,
                   .cost = recurrent_cost<2>,
                   .tensors = cell_tensors<2>},
    operator_entry{.name = "delta_rnn",
                   .summary = "recurrent units that keep what does not change",
                   .details = "Maps of what enters and of the state meet in a sum and a "
                              "product; a gate of what enters says how much of the state "
                              "stays.",
                   .output = "[t, units] or [units]",
                   .costs = "(c + units + 5) * units parameters and (c + units) * units "
                            "multiply-adds for each step, and 12 bytes for each unit and "
                            "step",
                   .settings = cell_settings,
                   .units = unit_origin::together,
                   .takes = sequences,
                   .by_step = true,
                   .shape = recurrent_shape,
                   .cost = recurrent_cost<1>,
                   .tensors = delta_tensors},
};

} // namespace

std::span<const operator_entry> recurrent_operators() {
  return rows;
}

} // namespace clade
