#include "engine/search/strategies/evolution/map_elites.hpp"

#include <fmt/format.h>

namespace clade {

void map_elites::hear(const individual& evaluated) {
  archive_.add(evaluated);
  learning_.told(evaluated);
  learning_.settle();
}

void map_elites::born(const candidate& c) {
  learning_.born(c);
  steady::born(c);
}

bool map_elites::receive(const individual& migrant) {
  archive_.add(migrant);
  return true;
}

void map_elites::choose(breeding& order) {
  if (order.generation == 0 || archive_.size() == 0)
    return;
  auto random = derive(seed(), purpose::selection, order.generation, order.index);
  auto first = random.below(archive_.size());
  auto second = random.chance(params().crossover) ? random.below(archive_.size()) : first;
  if (fitter(archive_[second], archive_[first]))
    std::swap(first, second);
  breed_from(order, archive_, first, second);
  learning_.apply(order);
  learning_.ordered(order.id, archive_[first].fitness);
}

expected<void> map_elites::serves(const search_space& space) {
  if (space.rules.max_nodes > 0 && !space.rules.operators.empty())
    return {};
  return fail(
      error_kind::invalid_input,
      fmt::format("evolution.strategy = \"map_elites\" keeps the best of each size and "
                  "depth, and {} has no layers; take \"regularized\" or \"tpe\"",
                  space.name));
}

} // namespace clade
