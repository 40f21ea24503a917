// Layers that see the columns of a table, and what puts ensembles together.
#include "search_spaces/operators/operator_rows.hpp"
#include "search_spaces/rows/operator_rules.hpp"
#include "search_spaces/rows/operator_settings.hpp"

#include <array>
#include <cmath>

namespace clade {

namespace {

using namespace operator_rules;
using namespace operator_settings;

constexpr std::array<std::string_view, 4> mixtures{
    "probabilities", "bounded_probabilities", "values", "bounded_odds"};
constexpr setting_entry of_entry{
    .name = "of", .type = kind::text, .words = mixtures, .sentence = "What is weighed."};
constexpr setting_entry groups_entry{.name = "groups",
                                     .low = 1,
                                     .high = widest,
                                     .fallback = 1,
                                     .sentence =
                                         "How many groups of features, all of one size."};
/// 2^8 leaves.
constexpr double deepest_tree = 8;
constexpr setting_entry depth_entry{
    .name = "depth",
    .low = 1,
    .high = deepest_tree,
    .fallback = 4,
    .sentence = "How many features a tree looks at before it says its number."};
constexpr setting_entry trees_entry{
    .name = "trees",
    .low = 1,
    .high = widest,
    .fallback = 16,
    .sentence = "How many trees are summed up for each feature that comes out."};
constexpr setting_entry summed_width_entry{.name = "width",
                                           .low = 1,
                                           .high = widest,
                                           .fallback = 16,
                                           .width = true,
                                           .sentence = units_entry.sentence};

constexpr std::array mixture_settings{of_entry};
constexpr std::array piecewise_settings{bins_entry};
constexpr std::array periodic_settings{frequencies_entry, sigma_entry};
constexpr std::array map_each_settings{groups_entry, each_width_entry};
constexpr std::array boosted_trees_settings{depth_entry, trees_entry, summed_width_entry};

tensor_shape piecewise_shape(shapes in, const settings_list& settings) {
  return {{in[0].sizes[0] * integer_setting(settings, "bins")}};
}

tensor_shape periodic_shape(shapes in, const settings_list& settings) {
  return {{2 * in[0].sizes[0] * integer_setting(settings, "frequencies")}};
}

tensor_shape map_each_shape(shapes, const settings_list& settings) {
  return {{integer_setting(settings, "groups") * integer_setting(settings, "width")}};
}

tensor_shape boosted_trees_shape(shapes, const settings_list& settings) {
  return {{integer_setting(settings, "width")}};
}

layer_cost mixture_cost(shapes in, const tensor_shape& out, const settings_list&) {
  const auto elements = natural(out.elements());
  return {.multiply_adds = elements * in.size(),
          .activation_bytes = float_bytes * elements};
}

// The bin's share, and the share cut to [0, 1].
layer_cost piecewise_cost(shapes, const tensor_shape& out, const settings_list&) {
  const auto elements = natural(out.elements());
  return {.multiply_adds = elements, .activation_bytes = 2 * float_bytes * elements};
}

// Turns, of which there are half as many, their cosines and sines, and both joined.
layer_cost periodic_cost(shapes, const tensor_shape& out, const settings_list&) {
  const auto elements = natural(out.elements());
  return {.multiply_adds = elements / 2,
          .activation_bytes = float_bytes * (elements / 2 + 2 * elements)};
}

layer_cost map_each_cost(shapes in, const tensor_shape& out,
                         const settings_list& settings) {
  const auto elements = natural(out.elements());
  return {.multiply_adds =
              natural(in[0].sizes[0] / integer_setting(settings, "groups")) * elements,
          .activation_bytes = float_bytes * elements};
}

// Costs for each tree the place of its leaf, in 8 bytes, and the values of the leaf.
layer_cost boosted_trees_cost(shapes, const tensor_shape& out,
                              const settings_list& settings) {
  const auto width = natural(out.elements());
  const auto trees = width * natural(integer_setting(settings, "trees"));
  return {.multiply_adds = trees * natural(integer_setting(settings, "depth")),
          .activation_bytes = (8 + float_bytes) * trees + float_bytes * width};
}

tensor_entries mixture_tensors(const layer& l) {
  const auto members = std::ssize(l.in);
  tensor_entries all{
      {"shares", {members}, {.by = 1.0 / static_cast<double>(members)}, false},
      {"temperature", {1}, {.by = 1}, false}};
  if (text_setting(l.settings, "of").starts_with("bounded_"))
    all.push_back({.role = "least", .sizes = {1}, .trained = false});
  return all;
}

tensor_entries piecewise_tensors(const layer& l) {
  const auto edges = integer_setting(l.settings, "bins") + 1;
  return {{"edges", {units_in(l), edges}, {initial_values::kind::bins}, false}};
}

tensor_entries periodic_tensors(const layer& l) {
  return {{"frequencies",
           {units_in(l), integer_setting(l.settings, "frequencies")},
           {initial_values::kind::normal, real_setting(l.settings, "sigma")}}};
}

tensor_entries map_each_tensors(const layer& l) {
  const auto groups = integer_setting(l.settings, "groups");
  const auto in = units_in(l) / groups, out = units_out(l) / groups;
  return {{"weight", {groups, in, out}, uniform_for(std::sqrt(2.0), in)},
          {"bias", {groups, out}}};
}

tensor_entries boosted_trees_tensors(const layer& l) {
  using kind = initial_values::kind;
  const auto each = integer_setting(l.settings, "trees");
  const auto trees = each * units_out(l);
  const auto leaves = std::int64_t{1} << integer_setting(l.settings, "depth");
  const auto columns = static_cast<double>(units_in(l));
  return {{"features", {trees, leaves - 1}, {kind::index, columns}, false},
          {"thresholds", {trees, leaves - 1}, {kind::normal, 1}, false},
          {"leaves",
           {trees, leaves},
           {kind::normal, 1 / std::sqrt(static_cast<double>(each))}}};
}

constexpr std::array rows{
    operator_entry{.name = "mixture",
                   .summary = "what the members of an ensemble say, weighed",
                   .details =
                       "Of scores of classes the logarithm of the weighed sum of "
                       "their softmax probabilities, divided by a temperature, "
                       "where bounded with no probability below the least; of "
                       "numbers the weighed sum, and of the log-odds of labels it, "
                       "too, bounded likewise.",
                   .output = "the same shape",
                   .costs = "a multiply-add for each element of each member",
                   .settings = mixture_settings,
                   .role = operator_role::adapter,
                   .takes = vectors,
                   .merges = true,
                   .shape = same,
                   .cost = mixture_cost,
                   .tensors = mixture_tensors},
    operator_entry{.name = "select",
                   .summary = "some of the features",
                   .output = "[outputs]",
                   .costs = "4 bytes for each feature that comes out",
                   .settings = outputs_settings,
                   .role = operator_role::adapter,
                   .units = unit_origin::selected,
                   .takes = vectors,
                   .keeps_sign = true,
                   .shape = outputs_shape,
                   .cost = kept},
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
                   .shape = piecewise_shape,
                   .cost = piecewise_cost,
                   .tensors = piecewise_tensors},
    operator_entry{.name = "periodic",
                   .summary = "cosines and sines of each feature",
                   .output = "[2 * n * frequencies]",
                   .costs = "n * frequencies parameters and multiply-adds; 10 bytes for "
                            "each feature that comes out",
                   .settings = periodic_settings,
                   .role = operator_role::adapter,
                   .units = unit_origin::spread,
                   .takes = vectors,
                   .shape = periodic_shape,
                   .cost = periodic_cost,
                   .tensors = periodic_tensors},
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
                   .shape = map_each_shape,
                   .cost = map_each_cost,
                   .tensors = map_each_tensors},
    operator_entry{.name = "boosted_trees",
                   .word = "trees",
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
                   .shape = boosted_trees_shape,
                   .cost = boosted_trees_cost,
                   .tensors = boosted_trees_tensors},
};

} // namespace

std::span<const operator_entry> table_operators() {
  return rows;
}

} // namespace clade
