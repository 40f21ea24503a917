// The table of strategies: a name, when to take it, and what makes one. A new algorithm
// is a file that implements `strategy` and a row here; the law tests
// (tests/engine/search/core/strategy_test.cpp) run over the names.
#include "engine/search/strategies/registry.hpp"

#include "engine/search/strategies/asha.hpp"
#include "engine/search/strategies/automatic.hpp"
#include "engine/search/strategies/cma_es.hpp"
#include "engine/search/strategies/dehb.hpp"
#include "engine/search/strategies/differential_evolution.hpp"
#include "engine/search/strategies/generational.hpp"
#include "engine/search/strategies/hyperband.hpp"
#include "engine/search/strategies/islands.hpp"
#include "engine/search/strategies/local_search.hpp"
#include "engine/search/strategies/map_elites.hpp"
#include "engine/search/strategies/median_stopping.hpp"
#include "engine/search/strategies/mu_plus_lambda.hpp"
#include "engine/search/strategies/multi_fidelity.hpp"
#include "engine/search/strategies/nsga2.hpp"
#include "engine/search/strategies/nsga3.hpp"
#include "engine/search/strategies/population_based_training.hpp"
#include "engine/search/strategies/random.hpp"
#include "engine/search/strategies/regularised.hpp"
#include "engine/search/strategies/successive_halving.hpp"
#include "engine/search/strategies/surrogate_assisted.hpp"
#include "engine/search/strategies/tpe.hpp"
#include "search_spaces/nearest.hpp"

#include <algorithm>
#include <array>

namespace clade {

namespace {

/// How the rungs of a strategy lie, where they are not given.
enum class rungs { none, by_ratio, evenly, one_a_generation };

struct row {
  const char* name;
  const char* advice;
  expected<void> (*serves)(const search_space& space);
  std::unique_ptr<strategy> (*make)(const evolution_params& params, std::uint64_t seed,
                                    std::shared_ptr<const search_space> space);
  clade::rungs rungs = rungs::none;
  /// Weighs several objectives against each other.
  bool several = false;
};

template<class Strategy>
std::unique_ptr<strategy> make(const evolution_params& params, std::uint64_t seed,
                               std::shared_ptr<const search_space> space) {
  if constexpr (std::is_constructible_v<Strategy, const evolution_params&, std::uint64_t,
                                        std::shared_ptr<const search_space>>)
    return std::make_unique<Strategy>(params, seed, std::move(space));
  else
    return std::make_unique<Strategy>(params, seed);
}

expected<void> any_space(const search_space&) {
  return {};
}

tl::unexpected<error> cannot_serve(const search_space& space, const char* name,
                                   const std::string& why, const char* others) {
  return fail(error_kind::invalid_input, "evolution.strategy is \"" + std::string(name)
                                             + "\", which moves numbers "
                                             + "alone, but the search space " + space.name
                                             + " " + why + ": take " + others);
}

constexpr const char* any_strategies =
    "\"regularized\", \"generational\" or \"mu_plus_lambda\"";

expected<void> numbers_alone(const search_space& space, const char* name) {
  if (has_layers(space.rules))
    return cannot_serve(space, name, "has layers to choose", any_strategies);
  if (std::ranges::none_of(space.rules.hyperparameters, varies))
    return cannot_serve(space, name, "has no hyperparameter that varies", "\"random\"");
  return {};
}

expected<void> no_layers(const search_space& space) {
  return numbers_alone(space, "differential_evolution");
}

expected<void> ordered_numbers(const search_space& space) {
  if (auto ok = numbers_alone(space, "cma_es"); !ok)
    return ok;
  for (const parameter& p : space.rules.hyperparameters)
    if (!is_ordered(p))
      return cannot_serve(space, "cma_es",
                          "has " + p.name + ", a choice without an order",
                          "\"differential_evolution\", \"regularized\" or "
                          "\"generational\"");
  return {};
}

constexpr std::array rows{
    row{"random",
        "Samples every candidate. The baseline that the others must beat, and right for "
        "fewer than 20 evaluations.",
        any_space, make<random_search>, rungs::none, true},
    row{"generational",
        "A genetic algorithm with generations. Robust in any space; costs nothing "
        "itself.",
        any_space, make<generational>},
    row{"regularized",
        "Each child replaces the oldest candidate. Robust in any space; good for "
        "thousands of evaluations.",
        any_space, make<regularised>},
    row{"mu_plus_lambda",
        "Parents leave only for fitter children. Climbs fast in any space, and may get "
        "stuck.",
        any_space, make<mu_plus_lambda>},
    row{"differential_evolution",
        "Moves along differences between candidates. For hyperparameters alone, also "
        "with unordered choices.",
        no_layers, make<differential_evolution>},
    row{"cma_es",
        "Learns how hyperparameters depend on each other. For ordered hyperparameters "
        "alone.",
        ordered_numbers, make<cma_es>},
    row{"surrogate",
        "A model predicts hundreds of children and only the most promising is trained. "
        "For expensive trainings, up to 2,000; one objective or several.",
        any_space, make<surrogate_assisted>, rungs::none, true},
    row{"local_search",
        "Tries the neighbors of the best candidate, one change at a time. For small "
        "spaces of choices.",
        any_space, make<local_search>},
    row{"tpe",
        "Models good and bad hyperparameters, as Optuna does by default. For many "
        "hyperparameters and no layers.",
        serves_tpe, make<tpe>},
    row{"map_elites",
        "Keeps the best network of each size and depth. To choose a size afterwards.",
        serves_map_elites, make<map_elites>},
    row{"islands",
        "Several searches side by side that exchange their best. For long searches that "
        "would get stuck.",
        any_space, make<islands>},
    row{"nsga2", "For two or three objectives and thousands of evaluations.", any_space,
        make<nsga2>, rungs::none, true},
    row{"nsga3", "For four objectives and more.", any_space, make<nsga3>, rungs::none,
        true},
    row{"successive_halving",
        "Only the best of each rung train on. The same search for any number of slots.",
        any_space, make<successive_halving>, rungs::by_ratio},
    row{"hyperband",
        "Successive halving that hedges, for when nobody knows how much the first epochs "
        "tell.",
        any_space, make<hyperband>, rungs::by_ratio},
    row{"dehb", "Hyperband with differential evolution. For hyperparameters alone.",
        serves_dehb, make<dehb>, rungs::by_ratio},
    row{"asha",
        "Successive halving that never waits. For many slots, when early epochs tell "
        "much.",
        any_space, make<asha>, rungs::by_ratio},
    row{"multi_fidelity",
        "A model learns from short trainings which ones to continue. For up to 2,000 "
        "evaluations with rungs.",
        any_space, make<multi_fidelity>, rungs::by_ratio},
    row{"median_stopping",
        "Stops what is worse than the median so far. For learning curves that cross "
        "often.",
        any_space, make<median_stopping>, rungs::evenly},
    row{"population_based_training",
        "Changes hyperparameters while networks train. For schedules rather than values.",
        serves_population_based_training, make<population_based_training>,
        rungs::one_a_generation},
};

const row& row_of(const evolution_params& params) {
  return *std::find_if(rows.begin(), rows.end(),
                       [&](const row& r) { return params.strategy == r.name; });
}

auto wrong(const char* name, const std::string& given, const std::string& advice) {
  return fail(error_kind::invalid_input,
              "evolution." + std::string(name) + " is " + given + ": " + advice);
}

expected<void> natural(const char* name, std::size_t given, std::size_t low,
                       std::size_t high) {
  if (given >= low && given <= high)
    return {};
  return wrong(name, std::to_string(given),
               "it must be from " + std::to_string(low) + " to " + std::to_string(high));
}

constexpr std::size_t most = 1'000'000;

/// `resolved`: a word that a file may have, but that has given way to another one by now.
expected<void> word(const char* name, const std::string& given,
                    std::vector<std::string> known, const char* resolved = nullptr) {
  if (std::find(known.begin(), known.end(), given) != known.end())
    return {};
  if (resolved != nullptr)
    known.insert(known.begin(), resolved);
  if (const auto near = nearest(given, known); !near.empty())
    return wrong(name, "\"" + given + "\"", "did you mean \"" + near + "\"?");
  std::string list;
  for (const auto& k : known)
    list += (list.empty() ? "\"" : ", \"") + k + "\"";
  return wrong(name, "\"" + given + "\"", "it must be one of " + list);
}

expected<void> validate_difference(const evolution_params& p) {
  if (auto ok = natural("population", p.population, 4, most); !ok)
    return ok;
  if (!(p.difference_weight >= 0 && p.difference_weight <= 2))
    return wrong("difference_weight", to_text(value{p.difference_weight}),
                 "it must be from 0 to 2");
  return word("difference_base", p.difference_base, {"random", "current_to_best"});
}

expected<void> validate_islands(const evolution_params& p) {
  if (auto ok = word("topology", p.topology, {"ring", "star"}); !ok)
    return ok;
  const auto names = island_strategies(p);
  if (names.empty())
    return wrong("islands", "empty",
                 "name a strategy for each island, or write how many there are");
  auto known = strategy_names();
  std::erase(known, "islands");
  for (const auto& name : names)
    if (auto ok = word("islands", name, known); !ok)
      return ok;
  if (p.population % names.size() != 0)
    return wrong("population", std::to_string(p.population),
                 "it must be a multiple of the " + std::to_string(names.size())
                     + " islands");
  for (std::size_t i = 0; i < names.size(); ++i)
    if (auto ok = validate(island_params(p, names[i])); !ok)
      return fail(ok.error().kind, ok.error().message + " (island "
                                       + std::to_string(i + 1)
                                       + ", which has its share of the population)");
  return {};
}

std::string to_text(const std::vector<std::uint32_t>& rungs) {
  std::string text;
  for (const auto r : rungs)
    text += (text.empty() ? "" : ", ") + std::to_string(r);
  return "[" + text + "]";
}

expected<void> validate_rungs(const evolution_params& p) {
  if (row_of(p).rungs == rungs::none) {
    if (!p.rungs.empty() || p.reduction)
      return wrong(p.rungs.empty() ? "reduction" : "rungs",
                   p.rungs.empty() ? std::to_string(*p.reduction) : to_text(p.rungs),
                   "\"" + p.strategy
                       + "\" trains every candidate to the end; remove it, or take a "
                         "strategy of several fidelities, such as \"asha\"");
    return {};
  }
  if (p.rungs.size() < 2 || p.rungs.front() == 0
      || std::adjacent_find(p.rungs.begin(), p.rungs.end(), std::greater_equal<>())
             != p.rungs.end())
    return wrong("rungs", to_text(p.rungs),
                 "they are at least two numbers of epochs that rise, such as [1, 3, 9]");
  if (auto ok = natural("reduction", reduction_of(p), 2, 100); !ok)
    return ok;
  if (auto ok = natural("tournament", p.tournament, 1, p.population); !ok)
    return ok;
  if (p.strategy == "asha" || p.strategy == "multi_fidelity"
      || p.strategy == "median_stopping")
    return natural("in_flight", p.in_flight, 1, p.population);
  return natural("population", p.population, p.rungs.size(), 1'000'000);
}

// What only one strategy reads is checked for that one alone, so that its defaults are in
// nobody else's way.
expected<void> validate_own(const evolution_params& p) {
  if (p.strategy == "islands")
    return validate_islands(p);
  const bool generational = p.strategy == "generational";
  const bool regularised = p.strategy == "regularized";
  if (regularised || (generational && p.selection == "tournament"))
    if (auto ok = natural("tournament", p.tournament, 1, p.population); !ok)
      return ok;
  if (generational)
    if (auto ok = natural("elites", p.elites, 0, p.population); !ok)
      return ok;
  if (p.strategy == "cma_es")
    return natural("population", p.population, 4, most);
  if (p.strategy == "differential_evolution")
    return validate_difference(p);
  if (p.strategy == "mu_plus_lambda")
    return natural("elites", p.elites, 1, most);
  if (regularised || p.strategy == "local_search" || p.strategy == "tpe"
      || p.strategy == "map_elites")
    return natural("in_flight", p.in_flight, 1, p.population);
  if (p.strategy == "surrogate")
    return natural("in_flight", p.in_flight, 1, p.population);
  return {};
}

} // namespace

expected<void> validate(const evolution_params& params) {
  if (auto ok = word("strategy", params.strategy, strategy_names(), automatic_strategy);
      !ok)
    return ok;
  if (auto ok = natural("population", params.population, 1, most); !ok)
    return ok;
  if (auto ok = natural("generations", params.generations, 1, most); !ok)
    return ok;
  if (auto ok =
          word("selection", params.selection, {"tournament", "truncation", "lexicase"});
      !ok)
    return ok;
  if (auto ok = word("tell_order", params.tell_order, {"asked", "arrived"}); !ok)
    return ok;
  if (!(params.truncation > 0 && params.truncation <= 1))
    return wrong("truncation", to_text(value{params.truncation}),
                 "it is a share, above 0 and at most 1");
  if (!(params.crossover >= 0 && params.crossover <= 1))
    return wrong("crossover", to_text(value{params.crossover}),
                 "it is a chance, from 0 to 1");
  if (auto ok = validate_own(params); !ok)
    return ok;
  if (auto ok = validate_rungs(params); !ok)
    return ok;
  if (params.zero_cost && params.strategy != "surrogate"
      && !(params.strategy == "islands"
           && std::ranges::find(params.islands, "surrogate") != params.islands.end()))
    return wrong("zero_cost", "true",
                 "it needs the model of strategy = \"surrogate\", and this is \""
                     + params.strategy + "\"");
  return validate(params.mutation);
}

expected<void> complete_rungs(evolution_params& params, std::uint32_t epochs,
                              std::vector<std::uint32_t> fidelities) {
  constexpr std::size_t looks = 5;
  if (auto ok = word("strategy", params.strategy, strategy_names(), automatic_strategy);
      !ok)
    return ok;
  const auto how = row_of(params).rungs;
  if (how == rungs::none)
    return validate_rungs(params);
  const auto reduction = reduction_of(params);
  if (params.rungs.empty()) {
    if (epochs < 2)
      return wrong("strategy", "\"" + params.strategy + "\"",
                   "it compares candidates before they are trained to the end, and that "
                   "is after 1 epoch; raise the number of epochs, or take "
                   "\"regularized\"");
    if (how == rungs::by_ratio)
      params.rungs = fidelities.empty() ? rungs_of(epochs, reduction)
                                        : rungs_of(fidelities, reduction);
    else
      params.rungs = even_rungs(
          epochs,
          how == rungs::evenly ? looks : std::max<std::size_t>(2, params.generations));
    if (params.rungs.size() < 2)
      params.rungs = {1, epochs};
  }
  if (!params.reduction)
    params.reduction = how == rungs::by_ratio ? reduction_by(params.rungs) : reduction;
  if (auto ok = validate_rungs(params); !ok)
    return ok;
  if (params.rungs.back() != epochs)
    return wrong("rungs", to_text(params.rungs),
                 "the last must be that of a full training, which has "
                     + std::to_string(epochs) + (epochs == 1 ? " epoch" : " epochs"));
  return {};
}

expected<std::unique_ptr<strategy>>
make_strategy(const evolution_params& params, std::uint64_t seed,
              std::shared_ptr<const search_space> space) {
  if (auto ok = validate(params); !ok)
    return tl::unexpected(ok.error());
  return row_of(params).make(params, seed, std::move(space));
}

expected<void> check_space(const std::string& strategy, const search_space& space) {
  return row_of({.strategy = strategy}).serves(space);
}

expected<void> check_strategy(const evolution_params& params, const search_space& space,
                              const objective& goal) {
  if (auto ok = validate(params); !ok)
    return ok;
  if (params.strategy == "islands")
    for (const auto& name : island_strategies(params))
      if (auto ok = check_strategy(island_params(params, name), space, goal); !ok)
        return ok;
  const auto& chosen = row_of(params);
  const auto aims = 1 + goal.others.size();
  if (aims > 1 && !chosen.several)
    return wrong("strategy", "\"" + params.strategy + "\"",
                 "it raises one objective and the experiment has " + std::to_string(aims)
                     + ", which strategy = \"" + (aims > 3 ? "nsga3" : "nsga2")
                     + "\" weighs against each other");
  return chosen.serves(space);
}

bool starts_from_others(const evolution_params& params) {
  return params.inherit || row_of(params).rungs != rungs::none;
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

std::vector<std::string> strategy_names() {
  std::vector<std::string> names;
  for (const auto& r : rows)
    names.emplace_back(r.name);
  return names;
}

} // namespace clade
