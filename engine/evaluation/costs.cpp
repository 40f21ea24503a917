#include "engine/evaluation/costs.hpp"

#include <algorithm>

namespace clade {

bool wants_costs(const objective& goal) {
  return asks_for(goal, multiply_adds_metric) || asks_for(goal, latency_metric);
}

void add_cost(evaluation& e, const objective& goal, std::string_view name, double value) {
  if (!asks_for(goal, name))
    return;
  const auto place = std::ranges::lower_bound(e.metrics, name, {}, &metric::name);
  e.metrics.insert(place, {std::string(name), value});
}

} // namespace clade
