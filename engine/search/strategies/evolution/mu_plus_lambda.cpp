#include "engine/search/strategies/evolution/mu_plus_lambda.hpp"

#include "engine/search/core/parameter_checks.hpp"

#include <algorithm>

namespace clade {

expected<void> mu_plus_lambda::validate(const evolution_params& params) {
  return check_number("elites", params.elites, 1, most_candidates);
}

// After a fork that lowered `elites`, more of the former parents are there until the
// generation is closed.
void mu_plus_lambda::choose_parents(breeding& order) const {
  if (survivors().empty())
    return;
  auto random = derive(seed(), purpose::selection, order.generation, order.index);
  const auto parents = std::min(survivors().size(), params().elites);
  const auto first = random.below(parents);
  const auto second = random.chance(params().crossover) ? random.below(parents) : first;
  breed_from(order, survivors(), std::min(first, second), std::max(first, second));
}

} // namespace clade
