#include "engine/search/strategies/evolution/generational.hpp"

#include "engine/search/core/parameter_checks.hpp"
#include "engine/search/core/selection.hpp"

#include <algorithm>

namespace clade {

expected<void> generational::validate(const evolution_params& params) {
  if (params.selection == "tournament")
    if (auto ok = check_number("tournament", params.tournament, 1, params.population);
        !ok)
      return ok;
  return check_number("elites", params.elites, 0, params.population);
}

void generational::prepare() {
  lexicase_ = params().selection == "lexicase" ? lexicase(survivors()) : lexicase();
}

std::size_t generational::draw(random_stream& random) const {
  if (params().selection == "lexicase")
    return lexicase_.select(random);
  return params().selection == "truncation"
             ? truncation(survivors().size(), params().truncation, random)
             : tournament(survivors().size(), params().tournament, random);
}

// The chance of a second parent is drawn before it is, and one that is the first again
// counts for none.
void generational::choose_parents(breeding& order) const {
  if (order.generation == 0)
    return;
  auto random = derive(seed(), purpose::selection, order.generation, order.index);
  const auto first = draw(random);
  const auto second = random.chance(params().crossover) ? draw(random) : first;
  breed_from(order, survivors(), std::min(first, second), std::max(first, second));
  learning_.apply(order);
}

// The lessons of a generation are learnt when it is closed, whatever the order in which
// its results came.
void generational::born(const candidate& c) {
  if (params().mutation.adapt && !c.parents.empty()) {
    const auto parent =
        std::ranges::find(survivors(), c.parents.front(), &individual::id);
    if (parent != survivors().end())
      learning_.ordered(c.id, parent->fitness);
    learning_.born(c);
  }
  generations::born(c);
}

void generational::tell(const individual& evaluated) {
  learning_.told(evaluated);
  generations::tell(evaluated);
}

void generational::close() {
  learning_.settle();
  generations::close();
  prepare();
}

bool generational::change(const evolution_params& params, std::uint64_t seed) {
  if (!generations::change(params, seed))
    return false;
  learning_.change(params.mutation);
  prepare();
  return true;
}

} // namespace clade
