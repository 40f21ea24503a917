#pragma once

#include "engine/search/strategies/registry/registry.hpp"

#include <string>
#include <vector>

namespace clade {

/// In an experiment file, and for one that names none.
inline constexpr const char* automatic_strategy = "auto";

/// The facts that a choice among strategies looks at, beside the space.
struct search_task {
  std::size_t objectives = 1;
  bool fidelities = false; ///< Trainings may be stopped and continued (rungs).
  std::size_t budget = 0;  ///< Evaluations in all.
  bool seeds = false;      ///< The space names networks to begin with.
};

/// The parameters with a strategy in the place of "auto", and with what only some
/// strategies read (tournament, in_flight) cut down to the population.
struct chosen_strategy {
  evolution_params params;
  std::string why; ///< "regularised, for ...": one line without quotes.
};

/// `strategy = "auto"`. The first rule that applies, and whose strategy there is and can
/// serve the space:
///
///   objectives > 3                 nsga3
///   objectives > 1, at most 2,000  surrogate       a model of each pays, as for one
///   objectives > 1                 nsga2
///   rungs, at most 2,000           multi_fidelity  a model of them and of the rungs pays
///   rungs                          asha            decides at no cost, waits for nobody
///   fewer than 20 evaluations      random          nothing is learnt from so few
///   at most 2,000                  surrogate       a model of them pays, and is fast
///   more                           regularised     robust, at no cost of its own
///
/// Among the strategies with rungs, multi_fidelity and asha have the least regret for the
/// epochs of 25 to 50 full trainings on tables of several fidelities: on NAS-Bench-201
/// multi_fidelity has less than asha on all three, on TaskSet they are as good.
///
/// If none fits, it chooses regularised. A pure function; `available` is what there is to
/// choose among, for tests of rules whose strategies may come later.
[[nodiscard]] chosen_strategy
choose_strategy(const evolution_params& params, const search_space& space,
                const search_task& task,
                const std::vector<std::string>& available = strategy_names());

} // namespace clade
