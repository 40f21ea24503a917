#include "genome/variation/rewiring.hpp"

#include "genome/base/text.hpp"
#include "genome/genes/innovation.hpp"
#include "genome/genes/wiring.hpp"

#include <fmt/format.h>

#include <algorithm>

// Why the result is valid: an edge is added forward in topological order only, so that no
// cycle arises; a node is removed by joining each node before it to one behind it and
// each behind it to one before it, and an edge only where both its ends have others, so
// that every node keeps a way from the input and a way to the output. With P nodes before
// a removed one and S behind it, joining all with all changes the number of skips by (P -
// 1)(S - 1), joining the firsts by none.
//
// An edge is drawn without listing all pairs: the pairs i < j of places in topological
// order are numbered, a number is drawn among those free, and the taken ones below it are
// stepped over.

namespace clade {

namespace {

std::size_t forward_edges(const genome& g) {
  return static_cast<std::size_t>(std::ranges::count_if(g.edges, &edge_gene::is_forward));
}

std::size_t recurrent_edges(const genome& g) {
  return static_cast<std::size_t>(std::ranges::count_if(g.edges, &edge_gene::recurrent));
}

/// All nodes are live, so that there are never fewer edges than a chain has.
std::size_t skips(const genome& g) {
  return forward_edges(g) - (g.nodes.size() - 1);
}

std::string joint(const genome& g, innovation from, innovation to) {
  return fmt::format("{}..{}", short_name(g, from), short_name(g, to));
}

bool joined(const genome& g, innovation from, innovation to) {
  return std::ranges::any_of(g.edges, [&](const edge_gene& e) {
    return e.is_forward() && e.from == from && e.to == to;
  });
}

void insert(genome& g, edge_gene edge) {
  const auto it = std::ranges::lower_bound(g.edges, edge.id, {}, &edge_gene::id);
  g.edges.insert(it, edge);
}

void erase_node(genome& g, innovation id) {
  std::erase_if(g.nodes, [id](const node_gene& n) { return n.id == id; });
  std::erase_if(g.edges, [id](const edge_gene& e) { return e.from == id || e.to == id; });
}

bool has_ends(const genome& g, const edge_gene& e) {
  return find_node(g, e.from) != nullptr && find_node(g, e.to) != nullptr;
}

/// The pair of places (i, j), i < j, that has this number: (0,1), (0,2), (1,2), (0,3),
/// ...
std::pair<std::size_t, std::size_t> nth_pair(std::size_t number) {
  std::size_t j = 1;
  while (number >= j) {
    number -= j;
    ++j;
  }
  return {number, j};
}

std::size_t number_of_pair(std::size_t i, std::size_t j) {
  return j * (j - 1) / 2 + i;
}

} // namespace

std::optional<node_gene> sample_node(const grammar& rules, random_stream& random) {
  std::vector<double> weights;
  weights.reserve(rules.operators.size());
  for (const operator_rule& rule : rules.operators)
    weights.push_back(rule.weight);
  const auto drawn = draw_by_weight(weights, random);
  if (!drawn)
    return std::nullopt;
  const operator_rule& rule = rules.operators[*drawn];
  return node_gene{{}, rule.name, sample(rule.settings, random)};
}

genome chain_genome(std::vector<node_gene> nodes) {
  genome g;
  g.nodes = {{.id = input_innovation, .op = "input", .settings = {}},
             {.id = output_innovation, .op = "output", .settings = {}}};
  join(g, input_innovation, output_innovation);
  innovation last = input_innovation;
  for (auto& node : nodes) {
    last = split(g, innovation_of_edge(last, output_innovation), std::move(node));
    std::erase_if(g.edges, [](const edge_gene& e) { return !e.enabled; });
  }
  return g;
}

void join(genome& g, innovation from, innovation to) {
  const auto same = std::ranges::find_if(g.edges, [&](const edge_gene& e) {
    return e.from == from && e.to == to && !e.recurrent();
  });
  if (same != g.edges.end())
    same->enabled = true;
  else
    insert(g, {.id = innovation_of_edge(from, to), .from = from, .to = to});
}

innovation split(genome& g, innovation edge, node_gene node) {
  node.id = innovation_of_split(g, edge);
  const innovation id = node.id;
  const auto old = std::ranges::lower_bound(g.edges, edge, {}, &edge_gene::id);
  old->enabled = false;
  const innovation from = old->from, to = old->to;
  g.nodes.insert(std::ranges::lower_bound(g.nodes, id, {}, &node_gene::id),
                 std::move(node));
  join(g, from, id);
  join(g, id, to);
  return id;
}

void prune(const grammar& rules, genome& g) {
  std::vector<edge_gene> recurrent;
  for (const edge_gene& e : g.edges)
    if (e.recurrent())
      recurrent.push_back(e);
  std::erase_if(g.edges, &edge_gene::recurrent);
  const wiring wires(g);
  if (wires.order().size() != g.nodes.size()) {
    std::vector<innovation> dead;
    for (std::size_t n = 0; n < g.nodes.size(); ++n)
      if (!wires.live(n))
        dead.push_back(g.nodes[n].id);
    for (const innovation id : dead)
      erase_node(g, id);
  }
  std::size_t disabled = g.edges.size() - forward_edges(g);
  for (std::size_t e = g.edges.size(); e-- > 0 && disabled > rules.max_nodes;) {
    if (g.edges[e].enabled)
      continue;
    g.edges.erase(g.edges.begin() + static_cast<std::ptrdiff_t>(e));
    --disabled;
  }
  std::size_t left = rules.max_recurrent;
  for (const edge_gene& e : recurrent)
    if (left > 0 && check(rules, e) && has_ends(g, e)) {
      insert(g, e);
      --left;
    }
}

std::optional<change> add_node(const grammar& rules, genome& g, random_stream& random) {
  if (g.nodes.size() - 2 >= rules.max_nodes)
    return std::nullopt;
  auto node = sample_node(rules, random);
  if (!node)
    return std::nullopt;
  std::size_t nth = random.below(forward_edges(g));
  const auto edge = std::ranges::find_if(
      g.edges, [&nth](const edge_gene& e) { return e.is_forward() && nth-- == 0; });
  change done{.kind = change_kind::add_node,
              .gene = joint(g, edge->from, edge->to),
              .after = to_text(*node)};
  split(g, edge->id, std::move(*node));
  prune(rules, g);
  return done;
}

std::optional<change> add_edge(const grammar& rules, genome& g, random_stream& random) {
  if (skips(g) >= rules.max_skips)
    return std::nullopt;
  const std::vector<innovation> order = topological_order(g);
  std::vector<std::pair<innovation, std::size_t>> place;
  place.reserve(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    place.emplace_back(order[i], i);
  std::ranges::sort(place);
  const auto place_of = [&place](innovation id) {
    return std::ranges::lower_bound(place, id, {}, [](const auto& p) { return p.first; })
        ->second;
  };
  std::vector<std::size_t> taken;
  taken.reserve(g.edges.size());
  for (const edge_gene& e : g.edges)
    if (e.is_forward())
      taken.push_back(number_of_pair(place_of(e.from), place_of(e.to)));
  std::ranges::sort(taken);
  const std::size_t pairs = number_of_pair(0, order.size());
  if (taken.size() >= pairs)
    return std::nullopt;
  std::size_t number = random.below(pairs - taken.size());
  for (const std::size_t t : taken)
    number += t <= number ? 1 : 0;
  const auto [i, j] = nth_pair(number);
  join(g, order[i], order[j]);
  return change{.kind = change_kind::add_edge, .gene = joint(g, order[i], order[j])};
}

std::optional<change> remove_node(const grammar& rules, genome& g,
                                  random_stream& random) {
  if (g.nodes.size() == 2)
    return std::nullopt;
  const node_gene gone = g.nodes[2 + random.below(g.nodes.size() - 2)];
  change done{.kind = change_kind::remove_node,
              .gene = short_name(g, gone.id),
              .before = to_text(gone)};
  std::vector<innovation> before, behind;
  for (const edge_gene& e : g.edges) {
    if (e.is_forward() && e.to == gone.id)
      before.push_back(e.from);
    if (e.is_forward() && e.from == gone.id)
      behind.push_back(e.to);
  }
  std::ranges::sort(before);
  std::ranges::sort(behind);
  erase_node(g, gone.id);
  std::size_t fresh = 0;
  for (const innovation from : before)
    for (const innovation to : behind)
      fresh += joined(g, from, to) ? 0 : 1;
  const bool all = forward_edges(g) + fresh <= g.nodes.size() - 1 + rules.max_skips;
  for (const innovation from : before)
    for (const innovation to : behind)
      if (all || from == before.front() || to == behind.front())
        join(g, from, to);
  return done;
}

std::optional<change> remove_edge(const grammar&, genome& g, random_stream& random) {
  const wiring wires(g);
  const auto several = [&](std::span<const wiring::index> edges) {
    return std::ranges::count_if(edges,
                                 [&](wiring::index e) { return !g.edges[e].recurrent(); })
           > 1;
  };
  std::vector<std::size_t> skipping;
  for (std::size_t e = 0; e < g.edges.size(); ++e)
    if (g.edges[e].is_forward() && several(wires.leaving(wires.from(e)))
        && several(wires.entering(wires.to(e))))
      skipping.push_back(e);
  if (skipping.empty())
    return std::nullopt;
  const std::size_t e = skipping[random.below(skipping.size())];
  change done{.kind = change_kind::remove_edge,
              .gene = joint(g, g.edges[e].from, g.edges[e].to)};
  g.edges.erase(g.edges.begin() + static_cast<std::ptrdiff_t>(e));
  return done;
}

std::optional<change> add_recurrent_edge(const grammar& rules, genome& g,
                                         random_stream& random) {
  // Without layers there is nothing that it could lead to.
  if (recurrent_edges(g) >= rules.max_recurrent || g.nodes.size() == 2)
    return std::nullopt;
  // From the input or a layer, to a layer.
  std::vector<innovation> ends{input_innovation};
  for (const node_gene& n : std::span(g.nodes).subspan(2))
    ends.push_back(n.id);
  constexpr int attempts = 16;
  for (int i = 0; i < attempts; ++i) {
    edge_gene e{.from = ends[random.below(ends.size())],
                .to = ends[1 + random.below(ends.size() - 1)]};
    e.delay = static_cast<std::uint32_t>(1 + random.below(rules.longest_delay));
    e.id = innovation_of_edge(e.from, e.to, e.delay);
    if (find_edge(g, e.id) != nullptr)
      continue;
    insert(g, e);
    return change{.kind = change_kind::add_recurrent_edge,
                  .gene = joint(g, e.from, e.to),
                  .after = counted(e.delay, "step")};
  }
  return std::nullopt;
}

std::optional<change> remove_recurrent_edge(const grammar&, genome& g,
                                            random_stream& random) {
  const auto there = recurrent_edges(g);
  if (there == 0)
    return std::nullopt;
  std::size_t nth = random.below(there);
  const auto edge = std::ranges::find_if(
      g.edges, [&nth](const edge_gene& e) { return e.recurrent() && nth-- == 0; });
  change done{.kind = change_kind::remove_recurrent_edge,
              .gene = joint(g, edge->from, edge->to),
              .before = counted(edge->delay, "step")};
  g.edges.erase(edge);
  return done;
}

} // namespace clade
