#include "engine/search/core/front_order.hpp"

#include "engine/search/core/pareto.hpp"
#include "engine/search/core/selection.hpp"

#include <algorithm>
#include <numeric>

namespace clade {

std::vector<std::size_t> order_by_front(std::span<const fitness> all) {
  std::vector<std::size_t> sorted;
  for (const auto& front : sort_into_fronts(all)) {
    std::vector<objective_point> points;
    for (const auto i : front)
      points.push_back(point_of(all[i]));
    const auto distances = crowding_distances(points);
    std::vector<std::size_t> order(front.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(
        order, [&](std::size_t a, std::size_t b) { return distances[a] > distances[b]; });
    for (const auto i : order)
      sorted.push_back(front[i]);
  }
  return sorted;
}

bool weighs_several(const std::vector<individual>& all) {
  return std::ranges::any_of(
      all, [](const individual& i) { return i.fitness.objectives.size() > 1; });
}

void sort_by_worth(std::vector<individual>& all) {
  sort_by_fitness(all);
  if (!weighs_several(all))
    return;
  std::vector<individual> sorted;
  for (const auto i : order_by_front(fitnesses_of(all, &individual::fitness)))
    sorted.push_back(std::move(all[i]));
  all = std::move(sorted);
}

} // namespace clade
