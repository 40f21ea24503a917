#include "engine/config/timed_search.hpp"

#include "engine/search/bases/rungs.hpp"
#include "engine/search/strategies/automatic.hpp"
#include "engine/search/strategies/validation.hpp"

namespace clade {

namespace {

// With fewer epochs the first rung tells little, and there is little to save.
constexpr std::uint32_t long_training = 9;

} // namespace

void take_rungs_for_time(experiment& e) {
  const auto& given = e.evolution;
  if (!e.traits().trains || given.chosen.empty() || !given.rungs.empty()
      || e.limits.wall_time.count() == 0 || !e.final_stage.wanted()
      || e.training.epochs < long_training)
    return;
  auto choice = choose_strategy(given, e.space,
                                {.objectives = aims_of(e.objective).size(),
                                 .fidelities = true,
                                 .budget = given.population * given.generations,
                                 .seeds = !e.space.seeds.empty()});
  auto& p = choice.params;
  p.rungs = rungs_of(e.training.epochs, reduction_of(p));
  p.chosen = std::move(choice.why);
  const auto fits = complete_rungs(p, e.training.epochs).and_then([&] {
    return check_strategy(p, e.space, e.objective);
  });
  if (fits)
    e.evolution = std::move(p);
}

} // namespace clade
