// The rows that decode() puts into networks of a space with recurrent edges: the layer that
// goes over the steps of a sequence, and within it what comes over such an edge.
#include "search_spaces/operators/operator_rows.hpp"
#include "search_spaces/rows/operator_rules.hpp"
#include "search_spaces/rows/operator_settings.hpp"

#include <array>
#include <string>

namespace clade {

namespace {

using namespace operator_rules;
using namespace operator_settings;

constexpr setting_entry recalled_entry{.name = "steps",
                                       .low = 1,
                                       .high = longest_delay,
                                       .fallback = 1,
                                       .sentence = "How many steps of time before."};

constexpr std::array recall_settings{outputs_entry, recalled_entry};

tensor_shape vector_of_outputs(shapes, const settings_list& settings) {
  return {{integer_setting(settings, "outputs")}};
}

tensor_entries recall_tensors(const layer& l) {
  return {{"weight", {units_out(l), units_in(l)}, uniform_for(1, units_in(l))}};
}

layer_cost recall_cost(shapes in, const tensor_shape& out, const settings_list&) {
  return {.multiply_adds = natural(in[0].units()) * natural(out.units()),
          .activation_bytes = float_bytes * natural(out.units())};
}

/// Its body costs what it costs (`cost_of`), once for each step.
layer_cost of_body_alone(shapes, const tensor_shape&, const settings_list&) {
  return {};
}

tensor_entries tensors_of_body(const layer& l) {
  tensor_entries all;
  for (const layer& one : l.body)
    for (auto& t : operator_of(one).tensors_of(one)) {
      t.role = one.name + "." + t.role;
      all.push_back(std::move(t));
    }
  return all;
}

constexpr std::array rows{
    operator_entry{.name = "over_time",
                   .summary = "layers that each step of a sequence goes through",
                   .details = "They say of the last step what comes out. Recurrent edges "
                              "lead from step to step.",
                   .output = "[outputs]",
                   .costs = "its layers' parameters, and for each step their "
                            "multiply-adds and bytes",
                   .settings = outputs_settings,
                   .role = operator_role::adapter,
                   .units = unit_origin::together,
                   .takes = sequences,
                   .gives = layout::vector,
                   .shape = vector_of_outputs,
                   .cost = of_body_alone,
                   .tensors = tensors_of_body},
    operator_entry{.name = "recall",
                   .summary = "linear map of what a layer said some steps before",
                   .details = "Without a bias; zeros before the first step.",
                   .output = "[outputs]",
                   .costs =
                       "n * outputs parameters; n * outputs multiply-adds and 4 bytes "
                       "for each output",
                   .settings = recall_settings,
                   .role = operator_role::adapter,
                   .units = unit_origin::together,
                   .takes = vectors,
                   .shape = vector_of_outputs,
                   .cost = recall_cost,
                   .tensors = recall_tensors},
};

} // namespace

std::span<const operator_entry> time_operators() {
  return rows;
}

} // namespace clade
