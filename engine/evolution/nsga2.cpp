#include "engine/evolution/nsga2.hpp"

#include "engine/evolution/pareto.hpp"
#include "engine/evolution/selection.hpp"

#include <algorithm>

namespace clade {

// Survivors are sorted by front and distance, so that the winner of a tournament is the
// smaller index.
void nsga2::choose_parents(breeding& order) const {
  if (order.generation == 0)
    return;
  constexpr std::size_t two = 2;
  auto random = derive(seed(), purpose::selection, order.generation, order.index);
  const auto first = tournament(survivors().size(), two, random);
  const auto second = random.chance(params().crossover)
                          ? tournament(survivors().size(), two, random)
                          : first;
  order.how = breeding::kind::mutate;
  order.parents.push_back(survivors()[std::min(first, second)]);
  if (first != second) {
    order.how = breeding::kind::cross;
    order.parents.push_back(survivors()[std::max(first, second)]);
  }
}

std::vector<individual> nsga2::select() const {
  const auto all = pool();
  std::vector<fitness> fitnesses;
  for (const auto& i : all)
    fitnesses.push_back(i.fitness);
  std::vector<individual> selected;
  for (const auto& front : sort_into_fronts(fitnesses)) {
    std::vector<objective_point> points;
    for (const auto i : front)
      points.push_back(point_of(fitnesses[i]));
    const auto distances = crowding_distances(points);
    std::vector<std::size_t> order(front.size());
    for (std::size_t i = 0; i < order.size(); ++i)
      order[i] = i;
    // The pool is sorted already, by fitness and age.
    std::ranges::stable_sort(
        order, [&](std::size_t a, std::size_t b) { return distances[a] > distances[b]; });
    for (const auto i : order) {
      selected.push_back(all[front[i]]);
      if (selected.size() == surviving())
        return selected;
    }
  }
  return selected;
}

} // namespace clade
