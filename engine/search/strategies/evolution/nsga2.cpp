#include "engine/search/strategies/evolution/nsga2.hpp"

#include "engine/search/core/front_order.hpp"
#include "engine/search/core/pareto.hpp"
#include "engine/search/core/selection.hpp"

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
  breed_from(order, survivors(), std::min(first, second), std::max(first, second));
}

std::vector<individual> nsga2::select() const {
  const auto all = pool();
  std::vector<individual> selected;
  // The pool is sorted already, by fitness and age.
  for (const auto i : order_by_front(fitnesses_of(all, &individual::fitness))) {
    selected.push_back(all[i]);
    if (selected.size() == surviving())
      break;
  }
  return selected;
}

} // namespace clade
