// The table of strategies. A new algorithm is a header and a source that implement
// `strategy`, and a row here; the law tests (tests/engine/search/core/strategy_test.cpp)
// run over the names.
#include "engine/search/strategies/registry/registry.hpp"

#include "engine/search/core/known_points.hpp"
#include "engine/search/strategies/evolution/differential_evolution.hpp"
#include "engine/search/strategies/evolution/envelope_nets.hpp"
#include "engine/search/strategies/evolution/generational.hpp"
#include "engine/search/strategies/evolution/local_search.hpp"
#include "engine/search/strategies/evolution/map_elites.hpp"
#include "engine/search/strategies/evolution/mu_plus_lambda.hpp"
#include "engine/search/strategies/evolution/nsga2.hpp"
#include "engine/search/strategies/evolution/nsga3.hpp"
#include "engine/search/strategies/evolution/population_based_training.hpp"
#include "engine/search/strategies/evolution/regularised.hpp"
#include "engine/search/strategies/registry/automatic.hpp"
#include "engine/search/strategies/registry/islands.hpp"
#include "engine/search/strategies/registry/validation.hpp"
#include "engine/search/strategies/rungs/asha.hpp"
#include "engine/search/strategies/rungs/dehb.hpp"
#include "engine/search/strategies/rungs/hyperband.hpp"
#include "engine/search/strategies/rungs/median_stopping.hpp"
#include "engine/search/strategies/rungs/multi_fidelity.hpp"
#include "engine/search/strategies/rungs/successive_halving.hpp"
#include "engine/search/strategies/sampling/cma_es.hpp"
#include "engine/search/strategies/sampling/grid_search.hpp"
#include "engine/search/strategies/sampling/random.hpp"
#include "engine/search/strategies/sampling/surrogate_assisted.hpp"
#include "engine/search/strategies/sampling/tpe.hpp"

#include <algorithm>
#include <array>

namespace clade {

namespace {

template<class Strategy>
std::unique_ptr<strategy> make(const evolution_params& params, std::uint64_t seed,
                               std::shared_ptr<const search_space> space) {
  if constexpr (std::is_constructible_v<Strategy, const evolution_params&, std::uint64_t,
                                        std::shared_ptr<const search_space>>)
    return std::make_unique<Strategy>(params, seed, std::move(space));
  else
    return std::make_unique<Strategy>(params, seed);
}

template<class Params>
void keys_of_own(own_keys& v, own_params& own) {
  keys(v, own.of<Params>());
}

constexpr auto rows = std::to_array<strategy_row>({
    {.name = "random",
     .advice = "Samples every candidate. The baseline that the others must beat, and "
               "right for fewer than 20 evaluations.",
     .make = make<random_search>,
     .traits = {.objectives = objective_count::any}},
    {.name = "grid",
     .advice = "Every combination of a few values of each hyperparameter, once. For "
               "tables and figures.",
     .make = make<grid_search>,
     .traits = {.objectives = objective_count::any},
     .serves = grid_search::serves,
     .validate = grid_search::validate,
     .keys = keys_of_own<grid_params>,
     .fits = grid_search::fits},
    {.name = "generational",
     .advice = "A genetic algorithm with generations. Robust in any space; costs "
               "nothing itself.",
     .make = make<generational>,
     .traits = {.selection = true},
     .validate = generational::validate},
    {.name = "regularized",
     .advice = "Each child replaces the oldest candidate. Robust in any space; good "
               "for thousands of evaluations.",
     .make = make<regularised>,
     .traits = {.steady = true},
     .validate = regularised::validate},
    {.name = "envelopenets",
     .advice = "Prunes the branches of trained networks that matter least, and grows "
               "where they matter most. For spaces of envelopes and cells.",
     .make = make<envelope_nets>,
     .traits = {.steady = true, .branches = true},
     .serves = envelope_nets::serves,
     .validate = envelope_nets::validate},
    {.name = "mu_plus_lambda",
     .advice = "Parents leave only for fitter children. Climbs fast in any space, and "
               "may get stuck.",
     .make = make<mu_plus_lambda>,
     .validate = mu_plus_lambda::validate},
    {.name = "differential_evolution",
     .advice = "Moves along differences between candidates. For hyperparameters alone, "
               "also with unordered choices.",
     .make = make<differential_evolution>,
     .serves = differential_evolution::serves,
     .validate = differential_evolution::validate,
     .keys = keys_of_own<difference_params>},
    {.name = "cma_es",
     .advice = "Learns how hyperparameters depend on each other. For ordered "
               "hyperparameters alone.",
     .make = make<cma_es>,
     .serves = cma_es::serves,
     .validate = cma_es::validate},
    {.name = "surrogate",
     .advice = "A model predicts hundreds of children and only the most promising is "
               "trained. For expensive trainings, up to 2,000; one objective or "
               "several.",
     .make = make<surrogate_assisted>,
     .traits = {.objectives = objective_count::any,
                .steady = true,
                .model = true,
                .scores = true},
     .validate = surrogate_assisted::validate,
     .keys = keys_of_own<earlier_results>},
    {.name = "local_search",
     .advice = "Tries the neighbors of the best candidate, one change at a time. For "
               "small spaces of choices.",
     .make = make<local_search>,
     .traits = {.steady = true}},
    {.name = "tpe",
     .advice = "Models good and bad hyperparameters, as Optuna does by default. For "
               "many hyperparameters and no layers.",
     .make = make<tpe>,
     .traits = {.steady = true, .model = true},
     .serves = tpe::serves},
    {.name = "map_elites",
     .advice = "Keeps the best network of each size and depth. To choose a size "
               "afterwards.",
     .make = make<map_elites>,
     .traits = {.steady = true},
     .serves = map_elites::serves},
    {.name = "islands",
     .advice = "Several searches side by side that exchange their best. For long "
               "searches that would get stuck.",
     .make = make<islands>,
     .validate = islands::validate,
     .keys = keys_of_own<islands_params>,
     .parts = islands::parts},
    {.name = "nsga2",
     .advice = "For two or three objectives and thousands of evaluations.",
     .make = make<nsga2>,
     .traits = {.objectives = objective_count::few}},
    {.name = "nsga3",
     .advice = "For four objectives and more.",
     .make = make<nsga3>,
     .traits = {.objectives = objective_count::many}},
    {.name = "successive_halving",
     .advice = "Only the best of each rung train on. The same search for any number of "
               "slots.",
     .make = make<successive_halving>,
     .traits = {.rungs = rung_layout::by_ratio, .objectives = objective_count::any}},
    {.name = "hyperband",
     .advice = "Successive halving that hedges, for when nobody knows how much the "
               "first epochs tell.",
     .make = make<hyperband>,
     .traits = {.rungs = rung_layout::by_ratio, .objectives = objective_count::any}},
    {.name = "dehb",
     .advice = "Hyperband with differential evolution. For hyperparameters alone.",
     .make = make<dehb>,
     .traits = {.rungs = rung_layout::by_ratio},
     .serves = dehb::serves},
    {.name = "asha",
     .advice = "Successive halving that never waits. For many slots, when early epochs "
               "tell much.",
     .make = make<asha>,
     .traits = {.rungs = rung_layout::by_ratio,
                .objectives = objective_count::any,
                .steady = true}},
    {.name = "multi_fidelity",
     .advice = "A model learns from short trainings which ones to continue. For up to "
               "2,000 evaluations with rungs.",
     .make = make<multi_fidelity>,
     .traits = {.rungs = rung_layout::by_ratio,
                .objectives = objective_count::any,
                .steady = true,
                .model = true}},
    {.name = "median_stopping",
     .advice = "Stops what is worse than the median so far. For learning curves that "
               "cross often.",
     .make = make<median_stopping>,
     .traits = {.rungs = rung_layout::evenly,
                .objectives = objective_count::any,
                .steady = true}},
    {.name = "population_based_training",
     .advice = "Changes hyperparameters while networks train. For schedules rather "
               "than values.",
     .make = make<population_based_training>,
     .traits = {.rungs = rung_layout::one_a_generation, .retunes = true},
     .serves = population_based_training::serves},
});

} // namespace

std::span<const strategy_row> strategy_rows() {
  return rows;
}

const strategy_row* row_of(std::string_view name) {
  const auto found = std::ranges::find(rows, name, &strategy_row::name);
  return found == rows.end() ? nullptr : &*found;
}

std::vector<std::string> strategy_names() {
  std::vector<std::string> names;
  for (const auto& r : rows)
    names.emplace_back(r.name);
  return names;
}

void visit_own_keys(own_keys& v, own_params& own) {
  keys(v, own.of<known_points>());
  for (const auto& r : rows)
    if (r.keys != nullptr)
      r.keys(v, own);
}

bool has_trait(const evolution_params& params, bool strategy_traits::*trait) {
  const auto has = [&](const evolution_params& p) {
    const auto* row = row_of(p.strategy);
    return row != nullptr && row->traits.*trait;
  };
  const auto* row = row_of(params.strategy);
  return has(params)
         || (row != nullptr && row->parts != nullptr
             && std::ranges::any_of(row->parts(params), has));
}

bool starts_from_others(const evolution_params& params) {
  const auto* row = row_of(params.strategy);
  return params.inherit || (row != nullptr && row->traits.rungs != rung_layout::none);
}

bool selects_by_cases(const evolution_params& params) {
  const auto* row = row_of(params.strategy);
  return row != nullptr && row->traits.selection && params.selection == "lexicase";
}

expected<std::unique_ptr<strategy>>
make_strategy(const evolution_params& params, std::uint64_t seed,
              std::shared_ptr<const search_space> space) {
  if (auto ok = validate(params); !ok)
    return tl::unexpected(ok.error());
  auto made = row_of(params.strategy)->make(params, seed, std::move(space));
  made->start();
  return made;
}

std::span<const strategy_advice> strategies_with_advice() {
  static const auto all = [] {
    std::vector<strategy_advice> every{{automatic_strategy,
                                        "The default: takes one of those below by "
                                        "objectives, rungs and budget, and says "
                                        "why."}};
    for (const auto& r : rows)
      every.push_back({r.name, r.advice});
    return every;
  }();
  return all;
}

} // namespace clade
