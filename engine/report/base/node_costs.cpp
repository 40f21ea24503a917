#include "engine/report/base/node_costs.hpp"

namespace clade {

node_costs costs_by_node(const network& n, const genome& g) {
  node_costs costs;
  for (const auto& node : g.nodes) {
    const auto name = to_text(node.id);
    bool found = false;
    for (const auto& layer : n.layers) {
      const bool own = layer.name == name;
      if (!own && !layer.name.starts_with(name + "."))
        continue;
      auto& cost = costs[node.id];
      cost.parameters += layer.cost.parameters;
      cost.multiply_adds += layer.cost.multiply_adds;
      found = found || own;
      if (own || !found) // A composite's value is that which its last layer gives.
        cost.out = layer.out;
    }
  }
  return costs;
}

} // namespace clade
