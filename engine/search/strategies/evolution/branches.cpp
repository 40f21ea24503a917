#include "engine/search/strategies/evolution/branches.hpp"

#include "genome/variation/rewiring.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <span>

namespace clade {

namespace {

const std::vector<value>* words_of(const parameter& p) {
  const auto* choice = std::get_if<choice_domain>(&p.domain);
  return choice == nullptr ? nullptr : &choice->options;
}

const parameter& parameter_of(const grammar& rules, const genome& g, const branch& b) {
  const auto& settings = find_operator(rules, find_node(g, b.node)->op)->settings;
  return *std::ranges::find(settings, b.parameter, &parameter::name);
}

/// A word that is no "zero".
value draw_word(const parameter& p, random_stream& random) {
  auto words = *words_of(p);
  std::erase(words, value(no_branch));
  return words[random.below(words.size())];
}

node_gene& node_of(genome& g, innovation id) {
  return *std::ranges::lower_bound(g.nodes, id, {}, &node_gene::id);
}

change replace_word(genome& g, const branch& b, value word) {
  change done{.kind = change_kind::change_setting,
              .gene = short_name(g, b.node),
              .name = b.parameter,
              .before = b.word,
              .after = to_text(word)};
  assign(node_of(g, b.node).settings, b.parameter, std::move(word));
  return done;
}

double mean(std::span<const double> values) {
  return values.empty() ? 0
                        : std::accumulate(values.begin(), values.end(), 0.0)
                              / static_cast<double>(values.size());
}

/// Draws one of the nodes by the mean importance of the branches that each has. One of which
/// nobody knows it counts as the average, and none has no chance at all.
std::optional<innovation> draw_node(const std::vector<innovation>& nodes,
                                    const std::vector<branch>& all,
                                    random_stream& random) {
  if (nodes.empty())
    return std::nullopt;
  constexpr double least = 0.05; // A share of the average.
  std::map<innovation, std::vector<double>> known;
  std::vector<double> every;
  for (const auto& b : all)
    if (b.importance) {
      known[b.node].push_back(*b.importance);
      every.push_back(*b.importance);
    }
  const auto average = mean(every);
  std::vector<double> weights;
  for (const auto node : nodes) {
    const auto found = known.find(node);
    const auto of_node = found == known.end() ? average : mean(found->second);
    weights.push_back(average > 0 ? of_node / average + least : 1);
  }
  const auto drawn = draw_by_weight(weights, random);
  return drawn ? std::optional(nodes[*drawn]) : std::nullopt;
}

std::vector<innovation> nodes_with(const std::vector<branch>& all, bool pruned_alone) {
  std::vector<innovation> nodes;
  for (const auto& b : all)
    if ((b.pruned() || !pruned_alone) && (nodes.empty() || nodes.back() != b.node))
      nodes.push_back(b.node);
  return nodes;
}

} // namespace

bool may_be_pruned(const parameter& p) {
  const auto* words = words_of(p);
  return words != nullptr && words->size() > 1
         && std::ranges::find(*words, value(no_branch)) != words->end();
}

std::vector<branch> branches_of(const grammar& rules, const genome& g,
                                const std::vector<branch_importance>& measured) {
  std::vector<branch> all;
  for (const auto& node : g.nodes) {
    const auto* rule = find_operator(rules, node.op);
    if (rule == nullptr)
      continue;
    for (const auto& p : rule->settings) {
      const auto* word = find(node.settings, p.name);
      if (word == nullptr || !may_be_pruned(p))
        continue;
      branch b{
          .node = node.id, .parameter = p.name, .word = std::get<std::string>(*word)};
      const auto of_this = [&, gene = to_text(node.id)](const branch_importance& m) {
        return m.gene == gene && m.parameter == p.name;
      };
      if (const auto m = std::ranges::find_if(measured, of_this);
          m != measured.end() && !b.pruned())
        b.importance = m->importance;
      all.push_back(std::move(b));
    }
  }
  return all;
}

std::vector<change> prune_branches(genome& g, std::vector<branch> all, std::size_t count,
                                   std::size_t spare, random_stream& random) {
  std::erase_if(all, &branch::pruned);
  if (all.size() < 2)
    return {};
  std::vector<double> known;
  for (const auto& b : all)
    if (b.importance)
      known.push_back(*b.importance);
  const auto drawn = [&] {
    return known.empty() ? random.uniform() : known[random.below(known.size())];
  };
  for (auto& b : all)
    if (!b.importance)
      b.importance = drawn();
  std::ranges::stable_sort(all, {}, [](const branch& b) { return *b.importance; });
  count = std::min(count, all.size() - 1);
  all.resize(std::min(count + spare, all.size()));
  std::vector<change> done;
  for (; count > 0; --count) {
    const auto which =
        static_cast<std::ptrdiff_t>(all.size() > count ? random.below(all.size()) : 0);
    done.push_back(
        replace_word(g, all[static_cast<std::size_t>(which)], value(no_branch)));
    all.erase(all.begin() + which);
  }
  return done;
}

std::optional<change> grow_branch(const grammar& rules, genome& g,
                                  const std::vector<branch>& all, random_stream& random) {
  const auto node = draw_node(nodes_with(all, /*pruned_alone=*/true), all, random);
  if (!node)
    return std::nullopt;
  std::vector<branch> pruned;
  std::ranges::copy_if(all, std::back_inserter(pruned),
                       [&](const branch& b) { return b.node == *node && b.pruned(); });
  const auto& b = pruned[random.below(pruned.size())];
  return replace_word(g, b, draw_word(parameter_of(rules, g, b), random));
}

std::optional<change> grow_node(const grammar& rules, genome& g,
                                const std::vector<branch>& all, random_stream& random) {
  if (g.nodes.size() - 2 >= rules.max_nodes)
    return std::nullopt;
  const auto node = draw_node(nodes_with(all, /*pruned_alone=*/false), all, random);
  if (!node)
    return std::nullopt;
  auto copy = *find_node(g, *node);
  clade::erase(copy.settings, "merge");
  for (const auto& p : find_operator(rules, copy.op)->settings)
    if (const auto* word = find(copy.settings, p.name);
        may_be_pruned(p) && word != nullptr && *word == value(no_branch))
      assign(copy.settings, p.name, draw_word(p, random));
  std::vector<const edge_gene*> leaving;
  for (const auto& e : g.edges)
    if (e.is_forward() && e.from == *node)
      leaving.push_back(&e);
  if (leaving.empty())
    return std::nullopt;
  const auto& edge = *leaving[random.below(leaving.size())];
  change done{.kind = change_kind::add_node,
              .gene =
                  fmt::format("{}..{}", short_name(g, edge.from), short_name(g, edge.to)),
              .after = to_text(copy)};
  split(g, edge.id, std::move(copy));
  prune(rules, g);
  return done;
}

} // namespace clade
