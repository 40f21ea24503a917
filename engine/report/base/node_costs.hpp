#pragma once

#include "search_spaces/operators/network.hpp"

#include <map>

namespace clade {

/// The shape of a node's value, and the cost of the node with all that decoding put
/// before its operator (adapters and projections).
struct node_cost {
  tensor_shape out;
  std::uint64_t parameters = 0;
  std::uint64_t multiply_adds = 0;
};

using node_costs = std::map<innovation, node_cost>;

/// The costs of the nodes of `g`, which `n` was decoded from; nodes that lie on no path
/// to the output have none.
[[nodiscard]] node_costs costs_by_node(const network& n, const genome& g);

} // namespace clade
