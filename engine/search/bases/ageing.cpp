#include "engine/search/bases/ageing.hpp"

#include "engine/search/core/parameter_checks.hpp"
#include "engine/search/core/selection.hpp"

namespace clade {

expected<void> ageing::validate(const evolution_params& params) {
  return check_number("tournament", params.tournament, 1, params.population);
}

void ageing::hear(const individual& evaluated) {
  living_.push_back(evaluated);
  changed();
}

void ageing::changed() {
  while (living_.size() > params().population)
    living_.pop_front();
}

bool ageing::receive(const individual& migrant) {
  living_.push_back(migrant);
  changed();
  return true;
}

random_stream ageing::choices(const breeding& order) const {
  return derive(seed(), purpose::selection, order.generation, order.index);
}

std::size_t ageing::win(random_stream& random) const {
  auto best = random.below(living_.size());
  for (std::size_t i = 1; i < params().tournament; ++i)
    if (const auto other = random.below(living_.size());
        fitter(living_[other], living_[best]))
      best = other;
  return best;
}

std::size_t ageing::breed_from_winner(breeding& order, std::size_t winner,
                                      random_stream& random) const {
  auto other = random.chance(params().crossover) ? win(random) : winner;
  if (fitter(living_[other], living_[winner]))
    std::swap(winner, other);
  breed_from(order, living_, winner, other);
  return winner;
}

std::vector<individual> ageing::population() const {
  std::vector<individual> sorted(living_.begin(), living_.end());
  sort_by_fitness(sorted);
  return sorted;
}

} // namespace clade
