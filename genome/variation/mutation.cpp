#include "genome/variation/mutation.hpp"

#include "genome/genes/hash.hpp"
#include "genome/genes/innovation.hpp"
#include "genome/variation/retuning.hpp"
#include "genome/variation/rewiring.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

// A kind of change is drawn by weight; one that finds no room is struck out and another
// drawn, which is the same as drawing among those that have room. After each change
// merges are repaired: a node that a second edge has come to enter draws how it merges,
// one with a single edge left forgets it. Changes that cancelled out, such as wider and
// narrower again, are followed by one more. Nodes that are not live, and recurrent edges that
// the grammar does not have, are taken out first: changes rely on there being none.

namespace clade {

namespace {

constexpr int most_changes = 10;
constexpr double skip_of_sample = 0.25;
constexpr std::uint64_t most_recurrent_of_sample = 2;

using apply = std::optional<change> (*)(const grammar&, genome&, random_stream&);

/// By kind.
constexpr std::array<apply, mutation_kind_count> kinds{
    add_node,
    add_edge,
    remove_node,
    remove_edge,
    change_operator,
    widen,
    narrow,
    change_setting,
    change_hyperparameter,
    add_recurrent_edge,
    remove_recurrent_edge,
};

std::optional<change> change_once(const grammar& rules, genome& g,
                                  const mutation_params& params, random_stream& random) {
  std::array<double, kinds.size()> weights{};
  for (std::size_t k = 0; k < kinds.size(); ++k)
    weights[k] = params.*mutation_kinds[k].weight;
  if (rules.max_recurrent == 0) // Others draw as if there were no such kinds.
    for (const auto kind :
         {change_kind::add_recurrent_edge, change_kind::remove_recurrent_edge})
      weights[static_cast<std::size_t>(kind)] = 0;
  while (const auto k = draw_by_weight(weights, random)) {
    if (auto done = kinds[*k](rules, g, random)) {
      repair_nodes(rules, g, random);
      return done;
    }
    weights[*k] = 0;
  }
  return std::nullopt;
}

} // namespace

expected<void> validate(const mutation_params& params) {
  double sum = 0;
  for (const auto& k : mutation_kinds) {
    const double weight = params.*k.weight;
    if (!std::isfinite(weight) || weight < 0)
      return fail(error_kind::invalid_input,
                  fmt::format("mutation.{} is {}; a weight is 0 or more", k.name,
                              to_text(value(weight))));
    sum += weight;
  }
  if (!(sum > 0) || !std::isfinite(sum))
    return fail(error_kind::invalid_input,
                "mutation: one weight at least must be above 0, and their sum finite");
  if (!(params.again >= 0 && params.again <= 0.9))
    return fail(error_kind::invalid_input,
                fmt::format("mutation.again is {}; it is a chance from 0 to 0.9",
                            to_text(value(params.again))));
  return {};
}

offspring mutate(const grammar& rules, const genome& parent,
                 const mutation_params& params, random_stream& random) {
  offspring born{parent, {}};
  prune(rules, born.child);
  repair_nodes(rules, born.child, random);
  for (int changes = 1; changes <= most_changes; ++changes) {
    auto done = change_once(rules, born.child, params, random);
    if (!done)
      break;
    born.changes.push_back(std::move(*done));
    const bool another = random.chance(params.again);
    const bool cancelled =
        changes > 1 && canonical_hash(born.child) == canonical_hash(parent);
    if (!another && !cancelled)
      break;
  }
  if (born.changes.empty())
    born.changes.push_back({.kind = change_kind::unchanged});
  return born;
}

genome sample_genome(const grammar& rules, random_stream& random) {
  const std::size_t most = std::min(rules.initial_nodes, rules.max_nodes);
  const std::size_t count = most > 0 ? 1 + random.below(most) : 0;
  std::vector<node_gene> nodes;
  for (std::size_t i = 0; i < count; ++i) {
    auto node = sample_node(rules, random);
    if (!node)
      break;
    nodes.push_back(std::move(*node));
  }
  genome g = chain_genome(std::move(nodes));
  // If the chain has no room for a skip, there is none.
  if (random.chance(skip_of_sample))
    static_cast<void>(add_edge(rules, g, random));
  if (rules.max_recurrent > 0)
    for (auto left = random.below(most_recurrent_of_sample + 1); left > 0; --left)
      static_cast<void>(add_recurrent_edge(rules, g, random));
  repair_nodes(rules, g, random);
  g.hyperparameters = sample(rules.hyperparameters, random);
  return g;
}

} // namespace clade
