#pragma once

#include "genome/genes/genome.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace clade {

/// A genome's graph by index: what enters and leaves each node over enabled edges, which
/// nodes are live (on a path from the input to the output, recurrent edges counted), and
/// an order in which every enabled, non-recurrent edge goes forward. Total: edges whose
/// ends are missing, and nodes on a cycle, take no part. Takes time linear in the genes,
/// but for a logarithm.
class wiring {
public:
  using index = std::uint32_t;
  static constexpr index none = ~index{0};

  /// Nodes must be sorted by innovation.
  explicit wiring(const genome& g);

  [[nodiscard]] index from(std::size_t edge) const { return from_[edge]; }
  [[nodiscard]] index to(std::size_t edge) const { return to_[edge]; }

  /// Indices of the enabled edges, recurrent ones included, that enter or leave a node.
  [[nodiscard]] std::span<const index> entering(std::size_t node) const;
  [[nodiscard]] std::span<const index> leaving(std::size_t node) const;

  [[nodiscard]] bool live(std::size_t node) const { return (reach_[node] & 3) == 3; }
  [[nodiscard]] bool live_edge(std::size_t edge) const;

  /// The live nodes; among those that could come next, the smallest innovation does.
  [[nodiscard]] const std::vector<index>& order() const { return order_; }

  [[nodiscard]] bool dangling() const { return dangling_; } ///< An edge's end is missing.
  [[nodiscard]] bool cyclic() const { return cyclic_; }

private:
  void link(const genome& g);
  void flood(const genome& g);
  void sort(const genome& g);

  std::vector<index> from_, to_;
  std::vector<index> entering_start_,
      leaving_start_; ///< The beginning of each node's part in the lists below.
  std::vector<index> entering_, leaving_;
  std::vector<std::uint8_t> reach_; ///< Bit 0: from the input; bit 1: to the output.
  std::vector<index> order_;
  bool dangling_ = false;
  bool cyclic_ = false;
};

/// The index of a node, or `wiring::none`.
[[nodiscard]] wiring::index index_of(const genome& g, innovation id);

} // namespace clade
