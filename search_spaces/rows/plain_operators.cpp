// Layers of vectors, and those of several layouts.
#include "search_spaces/operators/operator_rows.hpp"
#include "search_spaces/rows/operator_rules.hpp"
#include "search_spaces/rows/operator_settings.hpp"

#include <array>

namespace clade {

namespace {

using namespace operator_rules;
using namespace operator_settings;

constexpr std::array<std::string_view, 7> functions{
    "relu", "leaky_relu", "elu", "gelu", "silu", "tanh", "sigmoid"};
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

constexpr std::array dense_settings{activation_entry, norm_entry, units_entry};
constexpr std::array activation_settings{function_entry};
constexpr std::array dropout_settings{rate_entry};

tensor_shape dense_shape(shapes, const settings_list& settings) {
  return {{integer_setting(settings, "units")}};
}

layer_cost dense_cost(shapes in, const tensor_shape& out, const settings_list& settings) {
  auto cost = after_map(out, settings);
  cost.multiply_adds += natural(in[0].elements()) * natural(out.elements());
  return cost;
}

layer_cost norm_cost(shapes, const tensor_shape& out, const settings_list&) {
  const auto elements = natural(out.elements());
  return {.multiply_adds = elements, .activation_bytes = float_bytes * elements};
}

layer_cost nothing(shapes, const tensor_shape&, const settings_list&) {
  return {};
}

layer_cost dropout_cost(shapes, const tensor_shape& out, const settings_list&) {
  return {.activation_bytes = (float_bytes + 1) * natural(out.elements())};
}

tensor_entries dense_tensors(const layer& l) {
  return block_tensors(l, {units_out(l), units_in(l)});
}

tensor_entries batch_norm_tensors(const layer& l) {
  const auto units = units_in(l);
  auto all = norm_tensors(l);
  all.push_back({.role = "running_mean", .sizes = {units}, .trained = false});
  all.push_back({"running_var", {units}, {.by = 1}, false});
  return all;
}

constexpr std::array rows{
    operator_entry{.name = "dense",
                   .summary = "linear map, norm, activation",
                   .output = "[units]",
                   .costs = "n * units weights and multiply-adds",
                   .settings = dense_settings,
                   .units = unit_origin::made,
                   .takes = vectors,
                   .block = true,
                   .by_step = true,
                   .shape = dense_shape,
                   .cost = dense_cost,
                   .tensors = dense_tensors},
    operator_entry{.name = "batch_norm",
                   .summary = "normalizes each channel over the batch",
                   .details = "Of a vector or a sequence, each feature; then a "
                              "weight and a bias. Momentum 0.1, epsilon 1e-5.",
                   .output = "the same shape",
                   .costs = "2 parameters for each channel or feature; a "
                            "multiply-add and 4 bytes for each element",
                   .shape = same,
                   .cost = norm_cost,
                   .tensors = batch_norm_tensors},
    operator_entry{.name = "layer_norm",
                   .summary = "normalizes each example",
                   .details = "Over all its elements; then a weight and a bias for "
                              "each channel or feature. Epsilon 1e-5.",
                   .output = "the same shape",
                   .costs = "2 parameters for each channel or feature; a "
                            "multiply-add and 4 bytes for each element",
                   .by_step = true,
                   .shape = same,
                   .cost = norm_cost,
                   .tensors = norm_tensors},
    operator_entry{.name = "channel_norm",
                   .summary = "normalizes each pixel, or each step of a sequence",
                   .details = "Over its channels; then a weight and a bias for each "
                              "channel. Epsilon 1e-5.",
                   .output = "the same shape",
                   .costs = "2 parameters for each channel; a multiply-add and 4 bytes "
                            "for each element",
                   .takes = images_and_sequences,
                   .shape = same,
                   .cost = norm_cost,
                   .tensors = norm_tensors},
    operator_entry{.name = "activation",
                   .summary = "a function of each element",
                   .output = "the same shape",
                   .costs = "4 bytes for each element",
                   .settings = activation_settings,
                   .by_step = true,
                   .shape = same,
                   .cost = kept},
    operator_entry{.name = "identity",
                   .summary = "passes on what enters",
                   .details = "For the edges of cells.",
                   .output = "the same shape",
                   .costs = "nothing",
                   .units = unit_origin::kept,
                   .keeps_sign = true,
                   .shape = same,
                   .cost = nothing},
    operator_entry{.name = "zero",
                   .summary = "passes on nothing: zeros",
                   .details = "For the edges of cells.",
                   .output = "the same shape",
                   .costs = "4 bytes for each element",
                   .keeps_sign = true,
                   .shape = same,
                   .cost = kept},
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
                   .shape = same,
                   .cost = dropout_cost},
};

} // namespace

std::span<const operator_entry> plain_operators() {
  return rows;
}

} // namespace clade
