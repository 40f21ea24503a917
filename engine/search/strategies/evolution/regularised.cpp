#include "engine/search/strategies/evolution/regularised.hpp"

#include "engine/search/core/parameter_checks.hpp"
#include "engine/search/core/selection.hpp"

#include <algorithm>

namespace clade {

expected<void> regularised::validate(const evolution_params& params) {
  return check_number("tournament", params.tournament, 1, params.population);
}

void regularised::hear(const individual& evaluated) {
  living_.push_back(evaluated);
  learning_.told(evaluated);
  learning_.settle();
  changed();
}

void regularised::born(const candidate& c) {
  learning_.born(c);
  steady::born(c);
}

void regularised::changed() {
  learning_.change(params().mutation);
  while (living_.size() > params().population)
    living_.pop_front();
}

std::size_t regularised::win(random_stream& random) const {
  auto best = random.below(living_.size());
  for (std::size_t i = 1; i < params().tournament; ++i)
    if (const auto other = random.below(living_.size());
        fitter(living_[other], living_[best]))
      best = other;
  return best;
}

bool regularised::receive(const individual& migrant) {
  living_.push_back(migrant);
  changed();
  return true;
}

void regularised::choose(breeding& order) {
  if (order.generation == 0)
    return;
  auto random = derive(seed(), purpose::selection, order.generation, order.index);
  auto first = win(random);
  auto second = random.chance(params().crossover) ? win(random) : first;
  if (fitter(living_[second], living_[first]))
    std::swap(first, second);
  breed_from(order, living_, first, second);
  learning_.apply(order);
  learning_.ordered(order.id, living_[first].fitness);
}

std::vector<individual> regularised::population() const {
  std::vector<individual> sorted(living_.begin(), living_.end());
  sort_by_fitness(sorted);
  return sorted;
}

} // namespace clade
