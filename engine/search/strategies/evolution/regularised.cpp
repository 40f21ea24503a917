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
  auto first = win(random);
  auto second = random.chance(params().crossover) ? win(random) : first;
  if (fitter(living()[second], living()[first]))
    std::swap(first, second);
  breed_from(order, living(), first, second);
  learning_.apply(order);
  learning_.ordered(order.id, living()[first].fitness);
}

} // namespace clade
