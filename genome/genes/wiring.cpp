#include "genome/genes/wiring.hpp"

#include <algorithm>
#include <functional>

// Adjacency lists are two flat arrays each: where a node's list starts, and the lists one
// behind the other (compressed sparse rows). Liveness is two floods, one along the edges
// from the input and one against them from the output. The order is Kahn's, with a heap
// that yields the smallest index, and nodes are sorted by innovation; it runs over all
// nodes, so that a cycle among dead ones is seen too, and keeps the live.

namespace clade {

wiring::index index_of(const genome& g, innovation id) {
  const auto it = std::ranges::lower_bound(g.nodes, id, {}, &node_gene::id);
  if (it == g.nodes.end() || it->id != id)
    return wiring::none;
  return static_cast<wiring::index>(it - g.nodes.begin());
}

wiring::wiring(const genome& g) {
  link(g);
  flood(g);
  sort(g);
}

std::span<const wiring::index> wiring::entering(std::size_t node) const {
  return std::span(entering_).subspan(entering_start_[node],
                                      entering_start_[node + 1] - entering_start_[node]);
}

std::span<const wiring::index> wiring::leaving(std::size_t node) const {
  return std::span(leaving_).subspan(leaving_start_[node],
                                     leaving_start_[node + 1] - leaving_start_[node]);
}

bool wiring::live_edge(std::size_t edge) const {
  return from_[edge] != none && to_[edge] != none && live(from_[edge]) && live(to_[edge]);
}

void wiring::link(const genome& g) {
  const std::size_t nodes = g.nodes.size(), edges = g.edges.size();
  from_.resize(edges);
  to_.resize(edges);
  entering_start_.assign(nodes + 1, 0);
  leaving_start_.assign(nodes + 1, 0);
  const auto takes_part = [&](std::size_t e) {
    return g.edges[e].enabled && from_[e] != none && to_[e] != none;
  };
  for (std::size_t e = 0; e < edges; ++e) {
    from_[e] = index_of(g, g.edges[e].from);
    to_[e] = index_of(g, g.edges[e].to);
    dangling_ |= from_[e] == none || to_[e] == none;
    if (takes_part(e)) {
      ++entering_start_[to_[e]];
      ++leaving_start_[from_[e]];
    }
  }
  // Running sums give where each list ends; filling backwards turns ends into starts.
  for (std::size_t n = 1; n <= nodes; ++n) {
    entering_start_[n] += entering_start_[n - 1];
    leaving_start_[n] += leaving_start_[n - 1];
  }
  entering_.resize(entering_start_[nodes]);
  leaving_.resize(leaving_start_[nodes]);
  for (std::size_t e = edges; e-- > 0;) {
    if (!takes_part(e))
      continue;
    entering_[--entering_start_[to_[e]]] = static_cast<index>(e);
    leaving_[--leaving_start_[from_[e]]] = static_cast<index>(e);
  }
}

void wiring::flood(const genome& g) {
  reach_.assign(g.nodes.size(), 0);
  std::vector<index> open;
  open.reserve(g.nodes.size());
  const auto mark = [&](index node, std::uint8_t bit) {
    if (node == none || (reach_[node] & bit) != 0)
      return;
    reach_[node] |= bit;
    open.push_back(node);
  };
  const auto drain = [&](std::uint8_t bit, auto neighbours,
                         const std::vector<index>& ends) {
    while (!open.empty()) {
      const index node = open.back();
      open.pop_back();
      for (const index e : neighbours(node))
        mark(ends[e], bit);
    }
  };
  mark(index_of(g, input_innovation), 1);
  drain(
      1, [this](index n) { return leaving(n); }, to_);
  mark(index_of(g, output_innovation), 2);
  drain(
      2, [this](index n) { return entering(n); }, from_);
}

void wiring::sort(const genome& g) {
  const std::size_t nodes = g.nodes.size();
  std::vector<index> waits_for(nodes, 0), ready;
  ready.reserve(nodes);
  order_.reserve(nodes);
  for (std::size_t n = 0; n < nodes; ++n) {
    for (const index e : entering(n))
      waits_for[n] += g.edges[e].recurrent() ? 0 : 1;
    if (waits_for[n] == 0)
      ready.push_back(static_cast<index>(n)); // ascending, hence a heap already
  }
  std::size_t placed = 0;
  while (!ready.empty()) {
    std::ranges::pop_heap(ready, std::greater{});
    const index node = ready.back();
    ready.pop_back();
    ++placed;
    if (live(node))
      order_.push_back(node);
    for (const index e : leaving(node)) {
      if (g.edges[e].recurrent() || --waits_for[to_[e]] > 0)
        continue;
      ready.push_back(to_[e]);
      std::ranges::push_heap(ready, std::greater{});
    }
  }
  cyclic_ = placed != nodes;
}

} // namespace clade
