#include "engine/search/core/front_order.hpp"

#include "engine/search/core/pareto.hpp"

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

} // namespace clade
