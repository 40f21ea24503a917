#include "engine/run/steps/final_sources.hpp"

#include "engine/run/state/learning_speed.hpp"
#include "genome/genes/hash.hpp"

namespace clade {

namespace {

// The candidates of generation 0 that are not random are the seeds.
bool is_seed(const individual& i, const run_state& run) {
  return i.genome && i.id <= run.rules.evolution.population
         && !run.random_networks.contains(canonical_hash(*i.genome));
}

} // namespace

std::vector<individual> final_sources(const run_state& run) {
  auto all = run.best;
  for (auto& i : all)
    if (i.learning_exponent == usual_learning_exponent && is_seed(i, run))
      i.learning_exponent = proven_learning_exponent;
  return all;
}

} // namespace clade
