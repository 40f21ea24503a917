#include "engine/search/strategies/evolution/regularised.hpp"

namespace clade {

void regularised::hear(const individual& evaluated) {
  ageing::hear(evaluated);
  learning_.told(evaluated);
  learning_.settle();
}

void regularised::born(const candidate& c) {
  learning_.born(c);
  steady::born(c);
}

void regularised::changed() {
  learning_.change(params().mutation);
  ageing::changed();
}

void regularised::choose(breeding& order) {
  if (order.generation == 0)
    return;
  auto random = choices(order);
  const auto winner = win(random);
  const auto fitter_parent = breed_from_winner(order, winner, random);
  learning_.apply(order);
  learning_.ordered(order.id, living()[fitter_parent].fitness);
}

} // namespace clade
