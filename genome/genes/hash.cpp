#include "genome/genes/hash.hpp"

#include "genome/genes/wiring.hpp"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>

// All hashes are XXH3 with 128 bits of little-endian words, whichever the machine. Each
// live node starts as the hash of its operator and settings (less "merge" where fewer
// than two enter), and is refined over its neighbours' hashes h, sorted:
//
//     forward   h(n) = H(h(n), (h(p), weight) of its predecessors p)   topological order
//     backward  h(n) = H(h(n), (h(s), weight) of its successors s)     against it
//
// after which h(n) depends on all that leads to n and on all that n leads to. If there
// are recurrent edges, a step over what enters and leaves by them comes first, and the
// three are repeated while they tell more nodes apart. The hash is that of the sorted h
// and the hyperparameters. Lengths and counts stand before what they count, so that no
// two inputs give the same bytes.

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

  /// Takes the hash of all that was added since the last time.
  genome_hash take() {
    const genome_hash h = hash128(buffer_);
    buffer_.clear();
    return h;
  }

private:
  std::string buffer_;
};

struct neighbour {
  genome_hash end;
  double weight = 1;
  bool self = false;
  std::uint64_t delay = 0;

  friend auto operator<=>(const neighbour&, const neighbour&) = default;
};

class refinement {
public:
  explicit refinement(const genome& g)
      : genome_(g),
        wires_(g),
        hashes_(g.nodes.size()),
        next_(g.nodes.size()) {}

  genome_hash run() {
    for (const wiring::index node : wires_.order())
      start(node);
    if (recurrent_) {
      for (std::size_t before = 0, now = distinct(); now > before; now = distinct()) {
        before = now;
        recur();
        flow();
      }
    } else {
      flow();
    }
    add_nodes();
    hasher_.add(static_cast<std::uint64_t>(genome_.hyperparameters.size()));
    for (const setting& s : genome_.hyperparameters)
      hasher_.add(s);
    return hasher_.take();
  }

private:
  void start(wiring::index node) {
    const node_gene& gene = genome_.nodes[node];
    std::size_t entering = 0;
    for (const wiring::index e : wires_.entering(node))
      if (wires_.live_edge(e)) {
        ++entering;
        recurrent_ = recurrent_ || genome_.edges[e].recurrent();
      }
    const auto counts = [&](const setting& s) {
      return entering > 1 || s.name != "merge";
    };
    hasher_.add(std::string_view(gene.op));
    hasher_.add(static_cast<std::uint64_t>(std::ranges::count_if(gene.settings, counts)));
    for (const setting& s : gene.settings)
      if (counts(s))
        hasher_.add(s);
    hashes_[node] = hasher_.take();
  }

  void flow() {
    const auto from = [this](std::size_t e) { return wires_.from(e); };
    const auto to = [this](std::size_t e) { return wires_.to(e); };
    for (const wiring::index node : wires_.order()) {
      hasher_.add(hashes_[node]);
      add_neighbours(node, wires_.entering(node), false, from);
      hashes_[node] = hasher_.take();
    }
    for (std::size_t i = wires_.order().size(); i-- > 0;) {
      const wiring::index node = wires_.order()[i];
      hasher_.add(hashes_[node]);
      add_neighbours(node, wires_.leaving(node), false, to);
      hashes_[node] = hasher_.take();
    }
  }

  /// All nodes at once, as recurrent edges have no order.
  void recur() {
    for (const wiring::index node : wires_.order()) {
      hasher_.add(hashes_[node]);
      add_neighbours(node, wires_.entering(node), true,
                     [this](std::size_t e) { return wires_.from(e); });
      add_neighbours(node, wires_.leaving(node), true,
                     [this](std::size_t e) { return wires_.to(e); });
      next_[node] = hasher_.take();
    }
    hashes_.swap(next_);
  }

  template<class End>
  void add_neighbours(wiring::index node, std::span<const wiring::index> edges,
                      bool recurrent, End end) {
    neighbours_.clear();
    for (const wiring::index e : edges) {
      const edge_gene& edge = genome_.edges[e];
      if (edge.recurrent() == recurrent && wires_.live_edge(e))
        neighbours_.push_back({hashes_[end(e)], edge.weight, end(e) == node, edge.delay});
    }
    std::ranges::sort(neighbours_, [](const auto& a, const auto& b) { return a < b; });
    hasher_.add(static_cast<std::uint64_t>(neighbours_.size()));
    for (const neighbour& n : neighbours_) {
      hasher_.add(n.end);
      hasher_.add(n.weight);
      if (recurrent)
        hasher_.add(static_cast<std::uint64_t>(n.self) | (n.delay - 1) << 1);
    }
  }

  [[nodiscard]] std::vector<genome_hash> sorted_hashes() const {
    std::vector<genome_hash> sorted;
    sorted.reserve(wires_.order().size());
    for (const wiring::index node : wires_.order())
      sorted.push_back(hashes_[node]);
    std::ranges::sort(sorted);
    return sorted;
  }

  [[nodiscard]] std::size_t distinct() const {
    std::vector<genome_hash> sorted = sorted_hashes();
    const auto repeated = std::ranges::unique(sorted);
    return static_cast<std::size_t>(repeated.begin() - sorted.begin());
  }

  void add_nodes() {
    const std::vector<genome_hash> sorted = sorted_hashes();
    hasher_.add(static_cast<std::uint64_t>(sorted.size()));
    for (const genome_hash& h : sorted)
      hasher_.add(h);
  }

  const genome& genome_;
  wiring wires_;
  std::vector<genome_hash> hashes_, next_; ///< By node.
  std::vector<neighbour> neighbours_;
  hasher hasher_;
  bool recurrent_ = false;
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

running_hash::running_hash() : state_(XXH3_createState()) {
  XXH3_64bits_reset(state_.get());
}

void running_hash::add(std::span<const char> piece) {
  XXH3_64bits_update(state_.get(), piece.data(), piece.size());
}

std::uint64_t running_hash::value() const {
  return XXH3_64bits_digest(state_.get());
}

void running_hash::freed::operator()(XXH3_state_s* state) const {
  XXH3_freeState(state);
}

} // namespace clade
