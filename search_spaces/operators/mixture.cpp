#include "search_spaces/operators/mixture.hpp"

#include "search_spaces/operators/operators.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clade {

namespace {

const std::string trees_layer = "trees";
const std::string convolutions_layer = "convolutions";
const std::string smoothing_layer = "smoothing";

// Appends a layer whose inputs are there; returns its place.
std::size_t append(network& n, std::string name, std::string op,
                   std::vector<setting> settings, std::vector<std::size_t> inputs) {
  layer l{.name = std::move(name),
          .op = std::move(op),
          .settings = std::move(settings),
          .inputs = std::move(inputs)};
  for (const auto i : l.inputs)
    l.in.push_back(n.layers[i].out);
  const auto& row = operator_of(l);
  l.out = row.shape(l.in, l.settings);
  l.cost = row.cost_of(l);
  n.layers.push_back(std::move(l));
  return n.layers.size() - 1;
}

layer input_layer(const tensor_shape& shape) {
  layer l{.name = "input", .op = "input", .out = shape};
  l.cost = operator_of(l).cost_of(l);
  return l;
}

} // namespace

namespace {

/// A linear model whose last layer has this name.
network linear_network(const problem& p, const std::string& name) {
  network n;
  n.layers.push_back(input_layer(p.input));
  std::size_t last = 0;
  if (p.input.layout() != layout::vector)
    last = append(n, name + ".flatten", "flatten", {}, {last});
  append(n, name, "output", {{"outputs", p.outputs}}, {last});
  return n;
}

} // namespace

network linear_network(const problem& p) {
  return linear_network(p, "output");
}

network smoothing_network(const problem& p) {
  return linear_network(p, smoothing_layer + ".output");
}

bool are_possible(const tree_sizes& sizes) {
  const auto* row = find_operator("boosted_trees");
  return complete(*row, {{"depth", sizes.depth}, {"trees", sizes.trees}}).has_value();
}

std::int64_t tree_outputs(const problem& p) {
  return p.outputs == 2 && !p.apart ? 1 : p.outputs;
}

network tree_network(const problem& p, const tree_sizes& sizes) {
  network n;
  n.layers.push_back(input_layer(p.input));
  const auto trees = append(
      n, trees_layer, "boosted_trees",
      {{"depth", sizes.depth}, {"trees", sizes.trees}, {"width", tree_outputs(p)}}, {0});
  append(n, trees_layer + ".output", "output", {{"outputs", p.outputs}}, {trees});
  return n;
}

namespace {

std::vector<setting> settings_for(const convolution_sizes& sizes) {
  return {{"dilations", sizes.dilations},
          {"groups", sizes.groups},
          {"kernels", threshold_kernels},
          {"thresholds", sizes.thresholds}};
}

} // namespace

bool are_possible(const convolution_sizes& sizes) {
  const auto* row = find_operator("random_convolutions");
  return complete(*row, settings_for(sizes)).has_value();
}

bool has_convolutions(const tensor_shape& input) {
  return input.layout() == layout::sequence && input.sizes[0] > 1;
}

network convolution_network(const problem& p, const convolution_sizes& sizes) {
  network n;
  n.layers.push_back(input_layer(p.input));
  const auto convolutions =
      append(n, convolutions_layer, "random_convolutions", settings_for(sizes), {0});
  append(n, convolutions_layer + ".output", "output", {{"outputs", p.outputs}},
         {convolutions});
  return n;
}

std::string_view to_text(fitted_kind kind) {
  switch (kind) {
  case fitted_kind::linear:
    return "linear model";
  case fitted_kind::trees:
    return "boosted trees";
  case fitted_kind::convolutions:
    return "random convolutions";
  case fitted_kind::smoothing:
    return "exponential smoothing";
  }
  return {};
}

std::string in_sentence(fitted_kind kind) {
  return fmt::format("{}{}", kind == fitted_kind::linear ? "the " : "", to_text(kind));
}

fitted_kind fitted_kind_of(std::string_view tensor) {
  return tensor.starts_with(trees_layer + ".")          ? fitted_kind::trees
         : tensor.starts_with(convolutions_layer + ".") ? fitted_kind::convolutions
         : tensor.starts_with(smoothing_layer + ".")    ? fitted_kind::smoothing
                                                        : fitted_kind::linear;
}

std::string member_prefix(std::size_t i) {
  return fmt::format("m{}_", i + 1);
}

expected<network> decode_mixture(const search_space& space,
                                 std::span<const mixture_member> members,
                                 const problem& p, mixed_answers what) {
  std::vector<network> networks;
  std::vector<bool> mirrored;
  for (const auto& m : members) {
    const auto* one = std::get_if<candidate_member>(&m);
    mirrored.push_back(one != nullptr && one->mirrored);
    if (mirrored.back() && p.input.layout() != layout::image)
      return fail(error_kind::corrupt, "an ensemble mirrors what is no image");
    if (one != nullptr) {
      auto n = check(space.rules, one->genes).and_then([&] {
        return decode(space, one->genes, p);
      });
      if (!n)
        return n;
      networks.push_back(std::move(*n));
    } else if (const auto* sizes = std::get_if<tree_sizes>(&m)) {
      networks.push_back(tree_network(p, *sizes));
    } else if (const auto* convolutions = std::get_if<convolution_sizes>(&m)) {
      if (!has_convolutions(p.input))
        return fail(error_kind::corrupt, "an ensemble convolves what is no sequence");
      networks.push_back(convolution_network(p, *convolutions));
    } else if (std::holds_alternative<smoothing_member>(m)) {
      networks.push_back(smoothing_network(p));
    } else {
      networks.push_back(linear_network(p));
    }
  }
  if (networks.empty())
    return fail(error_kind::corrupt, "an ensemble without members");
  return mixture_of(networks, what, mirrored);
}

namespace {

std::string word_for(mixed_answers what) {
  switch (what) {
  case mixed_answers::values:
    return "values";
  case mixed_answers::bounded_odds:
    return "bounded_odds";
  case mixed_answers::bounded_probabilities:
    return "bounded_probabilities";
  default:
    return "probabilities";
  }
}

} // namespace

network mixture_of(std::span<const network> members, mixed_answers what,
                   const std::vector<bool>& mirrored) {
  network n;
  n.layers.push_back(members.front().layers.front());
  const bool any_mirrored = std::ranges::find(mirrored, true) != mirrored.end();
  const auto both = any_mirrored ? append(n, "both_sides", "both_sides", {}, {0}) : 0;
  std::vector<std::size_t> outputs;
  for (std::size_t m = 0; m < members.size(); ++m) {
    const auto& layers = members[m].layers;
    const auto before = n.layers.size();
    const bool is_mirrored = m < mirrored.size() && mirrored[m];
    const auto first = is_mirrored ? both : 0;
    // The input, the first of all, is shared.
    for (std::size_t i = 1; i < layers.size(); ++i) {
      auto l = layers[i];
      l.name = member_prefix(m) + l.name;
      if (!l.shares.empty())
        l.shares = member_prefix(m) + l.shares;
      if (operator_of(l).role == operator_role::output)
        l.op = "project"; // The same map; a network has one output.
      for (auto& input : l.inputs)
        input = input == 0 ? first : before + input - 1;
      n.layers.push_back(std::move(l));
    }
    outputs.push_back(n.layers.size() - 1);
    if (is_mirrored)
      outputs.back() = append(n, member_prefix(m) + "mean_of_sides", "mean_of_sides", {},
                              {outputs.back()});
  }
  append(n, "mixture", "mixture", {{"of", word_for(what)}}, std::move(outputs));
  return n;
}

} // namespace clade
