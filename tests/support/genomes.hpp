#pragma once

#include "genome/genes/grammar.hpp"
#include "genome/genes/innovation.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace clade::test {

/// Three operators, one of them with a condition between its settings; merges;
/// hyperparameters of every kind of domain, momentum under the condition of its
/// optimiser. At most 6 nodes and 3 skips, so that limits are met often.
inline grammar small_grammar() {
  const choice_domain filters{
      .options = {std::int64_t{8}, std::int64_t{16}, std::int64_t{32}}, .ordered = true};
  const integer_domain kernel{.low = 1, .high = 5, .step = 2, .log = false};
  const choice_domain padding{.options = {"same", "none"}, .ordered = false};
  const integer_domain units{.low = 4, .high = 256, .step = 1, .log = true};
  const choice_domain optimiser{.options = {"sgd", "adam"}, .ordered = false};
  const choice_domain batch{
      .options = {std::int64_t{32}, std::int64_t{64}, std::int64_t{128}},
      .ordered = true};
  grammar rules;
  rules.operators = {
      {.name = "conv",
       .settings = {{"filters", filters, {}, true},
                    {"kernel", kernel, {}, false},
                    {"padding", padding,
                     condition{"kernel", {std::int64_t{3}, std::int64_t{5}}}, false}},
       .weight = 2},
      {.name = "dense", .settings = {{"units", units, {}, true}}, .weight = 1},
      {.name = "relu", .settings = {}, .weight = 1},
  };
  rules.merge = {{"merge", choice_domain{.options = {"add", "concat"}}, {}, false}};
  rules.hyperparameters = {
      {"learning_rate", real_domain{.low = 1e-4, .high = 0.1, .log = true}, {}, false},
      {"optimiser", optimiser, {}, false},
      {"momentum", real_domain{.low = 0.5, .high = 0.99}, condition{"optimiser", {"sgd"}},
       false},
      {"batch_size", batch, {}, false},
  };
  rules.max_nodes = 6;
  rules.max_skips = 3;
  rules.initial_nodes = 3;
  return rules;
}

/// An enabled edge with the innovation of its place.
inline edge_gene an_edge(innovation from, innovation to, std::uint32_t delay = 0) {
  return {
      .id = innovation_of_edge(from, to, delay), .from = from, .to = to, .delay = delay};
}

/// Sorts genes and settings, which the builders below list in the order of reading.
inline genome sorted(genome g) {
  std::ranges::sort(g.nodes, {}, &node_gene::id);
  std::ranges::sort(g.edges, {}, &edge_gene::id);
  for (node_gene& n : g.nodes)
    std::ranges::sort(n.settings, {}, &setting::name);
  std::ranges::sort(g.hyperparameters, {}, &setting::name);
  return g;
}

/// input -> these nodes one after another -> output, with no hyperparameters. Their
/// innovations are replaced by 2, 3, ...
inline genome a_chain(std::vector<node_gene> nodes) {
  genome g;
  g.nodes = {{input_innovation, "input", {}}, {output_innovation, "output", {}}};
  innovation last = input_innovation;
  std::uint64_t next = 2;
  for (node_gene& node : nodes) {
    node.id = innovation{next++};
    g.edges.push_back(an_edge(last, node.id));
    last = node.id;
    g.nodes.push_back(std::move(node));
  }
  g.edges.push_back(an_edge(last, output_innovation));
  return sorted(std::move(g));
}

/// Obeys `small_grammar`:
///
///     input
///     n2  conv(filters=16, kernel=3, padding=same) <- input
///     n3  relu <- n2
///     output <- n2, n3 [merge add]
///     batch_size=64 learning_rate=0.01 momentum=0.9 optimiser=sgd
inline genome a_genome() {
  genome g = a_chain({{{},
                       "conv",
                       {{"filters", std::int64_t{16}},
                        {"kernel", std::int64_t{3}},
                        {"padding", "same"}}},
                      {{}, "relu", {}}});
  g.nodes[1].settings = {{"merge", "add"}};
  g.edges.push_back(an_edge(innovation{2}, output_innovation));
  g.hyperparameters = {{"batch_size", std::int64_t{64}},
                       {"learning_rate", 0.01},
                       {"momentum", 0.9},
                       {"optimiser", "sgd"}};
  return sorted(std::move(g));
}

} // namespace clade::test
