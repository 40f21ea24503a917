// Attention over the steps of sequences, and what it needs beside it (Vaswani et al.,
// "Attention is all you need", 2017; patches: Dosovitskiy et al., "An image is worth 16x16
// words", 2021).
#include "search_spaces/operators/operator_rows.hpp"
#include "search_spaces/rows/operator_rules.hpp"
#include "search_spaces/rows/operator_settings.hpp"

#include <array>

namespace clade {

namespace {

using namespace operator_rules;
using namespace operator_settings;

constexpr std::array attention_settings{heads_entry, seen_entry, units_entry};

constexpr setting_entry size_entry{.name = "size",
                                   .low = 1,
                                   .high = 64,
                                   .fallback = 4,
                                   .sentence = "The side of a square, in pixels."};
constexpr std::array patches_settings{filters_entry, size_entry};

tensor_shape attention_shape(shapes in, const settings_list& settings) {
  return {{in[0].sizes[0], integer_setting(settings, "units")}};
}

/// Each step computes its query, key and value, and for each head a product with every
/// step, of which the softmax is kept, too.
layer_cost attention_cost(shapes in, const tensor_shape& out,
                          const settings_list& settings) {
  const auto steps = natural(in[0].sizes[0]), units = natural(out.units());
  const auto heads = natural(integer_setting(settings, "heads"));
  return {.multiply_adds = steps * units * (3 * natural(in[0].units()) + 2 * steps),
          .activation_bytes = float_bytes * steps * (4 * units + 2 * heads * steps)};
}

tensor_entries attention_tensors(const layer& l) {
  const auto units = units_out(l);
  return {{"weight", {3 * units, units_in(l)}, uniform_for(1, units_in(l))},
          {"bias", {3 * units}}};
}

// One dimension: neither Muon nor the decay of weights is for what is added.
tensor_entries positions_tensors(const layer& l) {
  constexpr double deviation = 0.02;
  return {
      {"places", {l.in.front().elements()}, {initial_values::kind::normal, deviation}}};
}

std::int64_t squares(std::int64_t side, std::int64_t size) {
  return (side + size - 1) / size;
}

tensor_shape patches_shape(shapes in, const settings_list& settings) {
  const auto size = integer_setting(settings, "size");
  return {{squares(in[0].sizes[1], size) * squares(in[0].sizes[2], size),
           integer_setting(settings, "filters")}};
}

std::int64_t pixels_of_patch(const tensor_shape& in, const settings_list& settings) {
  const auto size = integer_setting(settings, "size");
  return in.units() * size * size;
}

layer_cost patches_cost(shapes in, const tensor_shape& out,
                        const settings_list& settings) {
  const auto elements = natural(out.elements());
  return {.multiply_adds = natural(pixels_of_patch(in[0], settings)) * elements,
          .activation_bytes = float_bytes * elements};
}

tensor_entries patches_tensors(const layer& l) {
  const auto size = integer_setting(l.settings, "size");
  return {{"weight",
           {units_out(l), units_in(l), size, size},
           uniform_for(1, pixels_of_patch(l.in.front(), l.settings))},
          {"bias", {units_out(l)}}};
}

constexpr std::array rows{
    operator_entry{.name = "attention",
                   .summary = "each step adds up what it heeds of all steps",
                   .details = "Multi-head attention of a sequence to itself, without a "
                              "map behind the heads: a conv1d of kernel 1 is that.",
                   .output = "[t, units]",
                   .costs = "3 * (c + 1) * units parameters; for each step (3 * c + 2 * "
                            "t) * units multiply-adds and 4 bytes for each of 4 * units "
                            "+ 2 * heads * t",
                   .settings = attention_settings,
                   .units = unit_origin::together,
                   .takes = sequences,
                   .shape = attention_shape,
                   .cost = attention_cost,
                   .tensors = attention_tensors},
    operator_entry{.name = "positions",
                   .summary = "adds to each step what tells its place",
                   .details = "A weight of its own for each step and feature.",
                   .output = "the same shape",
                   .costs = "t * c parameters; 4 bytes for each element",
                   .units = unit_origin::together,
                   .takes = sequences,
                   .shape = same,
                   .cost = kept,
                   .tensors = positions_tensors},
    operator_entry{.name = "patches",
                   .summary = "linear maps of the squares of an image, as a sequence",
                   .details = "Row by row from the upper left corner; beyond the lower "
                              "and the right edge are zeros.",
                   .output = "[ceil(h / size) * ceil(w / size), filters]",
                   .costs = "(c * size * size + 1) * filters parameters; c * size * size "
                            "multiply-adds and 4 bytes for each element that comes out",
                   .settings = patches_settings,
                   .units = unit_origin::together,
                   .takes = images,
                   .gives = layout::sequence,
                   .shape = patches_shape,
                   .cost = patches_cost,
                   .tensors = patches_tensors},
};

} // namespace

std::span<const operator_entry> attention_operators() {
  return rows;
}

} // namespace clade
