#pragma once

#include "engine/evaluation/synthetic/synthetic.hpp"
#include "tests/support/simulation.hpp"
#include "tests/support/small_space.hpp"

namespace clade {

/// A simulated run over the small space with the synthetic fitness.
[[nodiscard]] inline simulation small_run(const run_rules& rules,
                                          const synthetic_params& params = {}) {
  simulation s;
  s.rules = rules;
  s.breed = [rules, space = small_space()](const breeding& order) {
    return breed({space, small_problem(), rules.evolution.mutation, rules.seed}, order)
        .value();
  };
  s.evaluate = [rules, params,
                fitness = std::shared_ptr<fitness_function>(
                    make_synthetic({.params = params,
                                    .space = small_space(),
                                    .problem = small_problem(),
                                    .goal = rules.objective}))](const candidate& c) {
    unheard_progress listening;
    return fitness
        ->evaluate({.id = c.id,
                    .genome = *c.genome,
                    .seed = rules.seed,
                    .budget = {.epochs = c.epochs != 0 ? c.epochs : params.epochs},
                    .start = c.start,
                    .start_epoch = c.start_epoch},
                   listening)
        .evaluation;
  };
  return s;
}

} // namespace clade
