#include "genome/hash.hpp"

#include "genome/wiring.hpp"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>

// All hashes are XXH3 with 128 bits of little-endian words, whichever the machine:
//
//     local(n)    = H(operator, settings)              less "merge" where fewer than two
//     enter forward(n)  = H(local(n), sorted (forward(p), weight) of its predecessors p)
//     backward(n) = H(forward(n), sorted (backward(s), weight) of its successors s)
//     hash        = H(sorted backward(n), sorted recurrent edges (backward ends, weight),
//                     hyperparameters)
//
// over live nodes in topological order, then against it. Lengths and counts stand before
// what they count, so that no two inputs give the same bytes.

namespace clade {

namespace {

class hasher {
public:
  void add(std::uint64_t word) {
    if constexpr (std::endian::native == std::endian::big)
      word = __builtin_bswap64(word);
    char raw[sizeof word];
    std::memcpy(raw, &word, sizeof word);
    buffer_.append(raw, sizeof raw);
  }

  void add(double v) { add(std::bit_cast<std::uint64_t>(v == 0 ? 0.0 : v)); }

  void add(const genome_hash& h) {
    add(h.high);
    add(h.low);
  }

  void add(std::string_view text) {
    add(static_cast<std::uint64_t>(text.size()));
    buffer_.append(text);
  }

  void add(const value& v) {
    add(static_cast<std::uint64_t>(v.index()));
    if (const auto* integer = std::get_if<std::int64_t>(&v))
      add(static_cast<std::uint64_t>(*integer));
    else if (const auto* real = std::get_if<double>(&v))
      add(*real);
    else
      add(std::string_view(std::get<std::string>(v)));
  }

  void add(const setting& s) {
    add(std::string_view(s.name));
    add(s.value);
  }

  /// Of what was added since the last time.
  genome_hash take() {
    const genome_hash h = hash128(buffer_);
    buffer_.clear();
    return h;
  }

private:
  std::string buffer_;
};

struct weighted {
  genome_hash end;
  double weight = 1;

  friend auto operator<=>(const weighted&, const weighted&) = default;
};

struct recurrence {
  genome_hash from, to;
  double weight = 1;

  friend auto operator<=>(const recurrence&, const recurrence&) = default;
};

class refinement {
public:
  explicit refinement(const genome& g) : genome_(g), wires_(g), hashes_(g.nodes.size()) {}

  genome_hash run() {
    for (const wiring::index node : wires_.order()) {
      add_local(node);
      refine(node, wires_.entering(node),
             [this](std::size_t e) { return wires_.from(e); });
    }
    for (std::size_t i = wires_.order().size(); i-- > 0;) {
      const wiring::index node = wires_.order()[i];
      hasher_.add(hashes_[node]);
      refine(node, wires_.leaving(node), [this](std::size_t e) { return wires_.to(e); });
    }
    add_nodes();
    add_recurrences();
    hasher_.add(static_cast<std::uint64_t>(genome_.hyperparameters.size()));
    for (const setting& s : genome_.hyperparameters)
      hasher_.add(s);
    return hasher_.take();
  }

private:
  void add_local(wiring::index node) {
    const node_gene& gene = genome_.nodes[node];
    const auto entering = std::ranges::count_if(
        wires_.entering(node), [this](std::size_t e) { return wires_.live_edge(e); });
    const auto counts = [&](const setting& s) {
      return entering > 1 || s.name != "merge";
    };
    hasher_.add(std::string_view(gene.op));
    hasher_.add(static_cast<std::uint64_t>(std::ranges::count_if(gene.settings, counts)));
    for (const setting& s : gene.settings)
      if (counts(s))
        hasher_.add(s);
  }

  template<class End>
  void refine(wiring::index node, std::span<const wiring::index> edges, End end) {
    neighbours_.clear();
    for (const wiring::index e : edges)
      if (!genome_.edges[e].recurrent && wires_.live_edge(e))
        neighbours_.push_back({hashes_[end(e)], genome_.edges[e].weight});
    std::ranges::sort(neighbours_, [](const auto& a, const auto& b) { return a < b; });
    hasher_.add(static_cast<std::uint64_t>(neighbours_.size()));
    for (const weighted& n : neighbours_) {
      hasher_.add(n.end);
      hasher_.add(n.weight);
    }
    hashes_[node] = hasher_.take();
  }

  void add_nodes() {
    std::vector<genome_hash> sorted;
    sorted.reserve(wires_.order().size());
    for (const wiring::index node : wires_.order())
      sorted.push_back(hashes_[node]);
    std::ranges::sort(sorted);
    hasher_.add(static_cast<std::uint64_t>(sorted.size()));
    for (const genome_hash& h : sorted)
      hasher_.add(h);
  }

  void add_recurrences() {
    std::vector<recurrence> sorted;
    for (std::size_t e = 0; e < genome_.edges.size(); ++e) {
      const edge_gene& edge = genome_.edges[e];
      if (edge.recurrent && edge.enabled && wires_.live_edge(e))
        sorted.push_back({hashes_[wires_.from(e)], hashes_[wires_.to(e)], edge.weight});
    }
    std::ranges::sort(sorted, [](const auto& a, const auto& b) { return a < b; });
    hasher_.add(static_cast<std::uint64_t>(sorted.size()));
    for (const recurrence& r : sorted) {
      hasher_.add(r.from);
      hasher_.add(r.to);
      hasher_.add(r.weight);
    }
  }

  const genome& genome_;
  wiring wires_;
  std::vector<genome_hash> hashes_; ///< Of each node: forward, then backward.
  std::vector<weighted> neighbours_;
  hasher hasher_;
};

} // namespace

genome_hash canonical_hash(const genome& g) {
  return refinement(g).run();
}

std::uint64_t hash64(std::span<const char> bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

genome_hash hash128(std::span<const char> bytes) {
  const XXH128_hash_t h = XXH3_128bits(bytes.data(), bytes.size());
  return {h.high64, h.low64};
}

} // namespace clade
