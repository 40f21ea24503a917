// The laws that every strategy obeys, over a table of them; a new strategy gets a row.
#include "engine/search/core/known_points.hpp"
#include "engine/search/strategies/evolution/differential_evolution.hpp"
#include "engine/search/strategies/registry/islands.hpp"
#include "engine/search/strategies/registry/registry.hpp"
#include "engine/search/strategies/registry/validation.hpp"
#include "engine/search/strategies/sampling/grid_search.hpp"
#include "genome/variation/old_change_text.hpp"
#include "tests/engine/search/toy_world.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <set>

using namespace clade;

namespace {

struct specimen {
  const char* name;
  run_rules rules;
  bool orderly; ///< Decides the same in whatever order results come.
  /// Remembers what it asked for, so that little or nothing has to be bred again.
  bool careful = false;
};

run_rules adapting(const char* strategy, std::uint64_t seed) {
  auto rules = toy_rules(strategy, seed);
  rules.evolution.mutation.adapt = true;
  return rules;
}

/// A small x is an objective too, and it must not be too great.
run_rules weighing(const char* strategy, std::uint64_t seed) {
  auto rules = toy_rules(strategy, seed);
  rules.objective.others = {{.metric = "parameters", .maximize = false}};
  rules.objective.constraints = {{.metric = "parameters", .limit = 8'000}};
  return rules;
}

run_rules inheriting(const std::string& strategy, std::uint64_t seed) {
  auto rules = toy_rules(strategy, seed);
  rules.evolution.inherit = true;
  return rules;
}

std::vector<specimen> specimens(std::uint64_t seed = 1) {
  auto truncation = toy_rules("generational", seed);
  truncation.evolution.selection = "truncation";
  auto lexicase = toy_rules("generational", seed);
  lexicase.evolution.selection = "lexicase";
  lexicase.cases = {{"validation.accuracy", true}};
  auto to_best = toy_rules("differential_evolution", seed);
  to_best.evolution.own = difference_params{.weight = 0.8, .base = "current_to_best"};
  auto arrived = toy_rules("regularized", seed);
  arrived.evolution.tell_order = "arrived";
  auto asha_arrived = toy_rules("asha", seed);
  asha_arrived.evolution.tell_order = "arrived";
  auto fidelities_arrived = toy_rules("multi_fidelity", seed);
  fidelities_arrived.evolution.tell_order = "arrived";
  auto guessed = toy_rules("surrogate", seed);
  guessed.evolution.tell_order = "arrived";
  auto four = toy_rules("islands", seed);
  four.evolution.own =
      islands_params{.strategies = {"regularized", "generational", "tpe", "local_search"},
                     .topology = "star",
                     .migration = 3};
  four.evolution.in_flight = 8;
  auto alone = toy_rules("islands", seed);
  alone.evolution.own = islands_params{.strategies = {"2"}, .migration = 0};
  alone.evolution.in_flight = 6;
  auto grid = toy_rules("grid", seed);
  grid.evolution.own = grid_params{.points_per_range = 48};
  auto of_four = weighing("surrogate", seed);
  for (int i = 0; i < 2; ++i)
    of_four.objective.others.push_back(of_four.objective.others.front());
  return {
      {"random", toy_rules("random", seed), true},
      {"grid", grid, true, true},
      {"generational by tournament", toy_rules("generational", seed), true},
      {"generational by truncation", truncation, true},
      {"generational by lexicase", lexicase, true},
      {"regularised as asked", toy_rules("regularized", seed), true},
      {"regularised as arrived", arrived, false},
      {"envelope nets", toy_rules("envelopenets", seed), true},
      {"mu plus lambda", toy_rules("mu_plus_lambda", seed), true},
      {"differential evolution", toy_rules("differential_evolution", seed), true},
      {"differential evolution to the best", to_best, true},
      {"cma-es", toy_rules("cma_es", seed), true},
      {"surrogate as asked", toy_rules("surrogate", seed), true, true},
      {"surrogate as arrived", guessed, false, true},
      {"local search", toy_rules("local_search", seed), true, true},
      {"tpe", toy_rules("tpe", seed), true, true},
      {"map elites", toy_rules("map_elites", seed), true},
      {"islands of four strategies", four, true},
      {"islands without migration", alone, true},
      {"generational that adapts", adapting("generational", seed), true},
      {"regularised that adapts", adapting("regularized", seed), true},
      {"map elites that adapt", adapting("map_elites", seed), true},
      {"nsga2", toy_rules("nsga2", seed), true},
      {"nsga2 for two objectives", weighing("nsga2", seed), true},
      {"nsga3 for two objectives", weighing("nsga3", seed), true},
      {"surrogate for two objectives", weighing("surrogate", seed), true, true},
      {"surrogate for four objectives", of_four, true, true},
      {"successive halving", toy_rules("successive_halving", seed), true},
      {"hyperband", toy_rules("hyperband", seed), true},
      {"dehb", toy_rules("dehb", seed), true},
      {"asha as asked", toy_rules("asha", seed), true},
      {"asha as arrived", asha_arrived, false},
      {"multi fidelity as asked", toy_rules("multi_fidelity", seed), true, true},
      {"multi fidelity as arrived", fidelities_arrived, false, true},
      {"median stopping", toy_rules("median_stopping", seed), true},
      {"successive halving for two objectives", weighing("successive_halving", seed),
       true},
      {"hyperband for two objectives", weighing("hyperband", seed), true, true},
      {"asha for two objectives", weighing("asha", seed), true},
      {"multi fidelity for two objectives", weighing("multi_fidelity", seed), true, true},
      {"median stopping for two objectives", weighing("median_stopping", seed), true},
      {"population based training", toy_rules("population_based_training", seed), true},
      {"generational with inherited weights", inheriting("generational", seed), true},
      {"regularised with inherited weights", inheriting("regularized", seed), true}};
}

template<class Record>
std::vector<Record> only(const std::vector<record>& records) {
  std::vector<Record> found;
  for (const auto& r : records)
    if (const auto* one = std::get_if<Record>(&r))
      found.push_back(*one);
  return found;
}

std::vector<std::string> texts(const std::vector<record>& records) {
  std::vector<std::string> lines;
  for (const auto& r : records)
    lines.push_back(to_text(r));
  return lines;
}

} // namespace

TEST_CASE("strategy: every one of the table has its laws tested") {
  std::set<std::string> tested;
  for (const auto& s : specimens())
    tested.insert(s.rules.evolution.strategy);
  const auto names = strategy_names();
  CHECK(tested == std::set<std::string>(names.begin(), names.end()));
}

TEST_CASE("strategy: the same seed decides the same and another one does not") {
  for (const auto& s : specimens(1)) {
    INFO(s.name);
    CHECK(texts(simulate(toy_simulation(s.rules)).records)
          == texts(simulate(toy_simulation(s.rules)).records));
    auto other = s.rules;
    other.seed = 2;
    CHECK(simulate(toy_simulation(s.rules)).state.digest
          != simulate(toy_simulation(other)).state.digest);
  }
}

TEST_CASE(
    "strategy: a candidate's sentence tells of the mutations that its changes have") {
  for (const auto& s : specimens()) {
    INFO(s.name);
    for (const auto& [born] :
         only<candidate_born>(simulate(toy_simulation(s.rules)).records)) {
      INFO(to_text(born));
      REQUIRE(mutation_kinds_of(parse_old_change_text(to_text(born.changes)))
              == mutation_kinds_of(born.changes));
    }
  }
}

// Some strategies take a second for a run. Each is held to a third of what these laws could
// try, the next one to another third.
namespace {
constexpr std::size_t thirds = 3;
} // namespace

TEST_CASE("strategy: the order in which results come leaves no trace") {
  std::size_t first = 0;
  for (const auto& s : specimens()) {
    INFO(s.name);
    const auto expected = simulate(toy_simulation(s.rules)).state.digest;
    for (std::uint64_t order = 1 + first++ % thirds; order <= 40; order += thirds) {
      auto mixed = toy_simulation(s.rules);
      mixed.pick = shuffled(order);
      const auto run = simulate(mixed);
      if (s.orderly)
        REQUIRE(run.state.digest == expected);
      else
        REQUIRE(run.state.born == 48);
    }
  }
}

TEST_CASE("strategy: a run goes on alike from its fold at any record") {
  std::size_t first = 0;
  for (const auto& s : specimens()) {
    INFO(s.name);
    const auto whole = simulate(toy_simulation(s.rules));
    const auto expected = texts(whole.records);
    for (std::size_t stop = first++ % thirds; stop < whole.records.size();
         stop += thirds) {
      const auto resumed =
          simulate(toy_simulation(s.rules),
                   {whole.records.begin(),
                    whole.records.begin() + static_cast<std::ptrdiff_t>(stop)});
      REQUIRE(texts(resumed.records) == expected);
      REQUIRE(resumed.state.digest == whole.state.digest);
    }
  }
}

TEST_CASE(
    "strategy: a run stopped at any record of a shuffled run ends with the same digest") {
  std::size_t first = 0;
  for (const auto& s : specimens()) {
    if (!s.orderly)
      continue;
    INFO(s.name);
    auto mixed = toy_simulation(s.rules);
    mixed.pick = shuffled(7);
    const auto whole = simulate(mixed);
    for (std::size_t stop = 1 + first++ % thirds; stop < whole.records.size();
         stop += thirds) {
      mixed.pick = shuffled(stop);
      const auto resumed =
          simulate(mixed, {whole.records.begin(),
                           whole.records.begin() + static_cast<std::ptrdiff_t>(stop)});
      REQUIRE(resumed.state.digest == whole.state.digest);
    }
  }
}

TEST_CASE("strategy: a search in which everything fails still ends") {
  for (const auto& s : specimens()) {
    INFO(s.name);
    const auto run = simulate(toy_simulation(s.rules, {.all_fail = true}));
    CHECK(run.state.failed == 48);
    CHECK(run.state.best.empty());
    CHECK(run.state.finished->champion == 0);
  }
}

TEST_CASE("strategy: ids are consecutive and the budget is met exactly") {
  for (const auto& s : specimens()) {
    INFO(s.name);
    auto mixed = toy_simulation(s.rules);
    mixed.pick = shuffled(3);
    const auto run = simulate(mixed);
    candidate_id last = 0;
    for (const auto& b : only<candidate_born>(run.records)) {
      CHECK(b.born.id == ++last);
      CHECK(b.born.generation == (last - 1) / 8);
      CHECK(b.born.index == (last - 1) % 8);
    }
    CHECK(last == 48);
    CHECK(only<candidate_evaluated>(run.records).size() == 48);
    CHECK(only<generation_closed>(run.records).size() == 6);
    CHECK(run.state.generations.size() == 6);
  }
}

TEST_CASE("strategy: no training is asked for twice while there are others") {
  for (const auto& s : specimens()) {
    INFO(s.name);
    // If some are trained on, fewer are new.
    const bool climbs = !s.rules.evolution.rungs.empty();
    const auto run = simulate(toy_simulation(s.rules, {.size = climbs ? 200 : 400}));
    std::set<genome_hash> trainings;
    std::uint64_t bred_again = 0;
    for (const auto& b : only<candidate_born>(run.records)) {
      if (to_text(b.born.changes).starts_with("migrated"))
        continue; // It is told to.
      CHECK(trainings.insert(training_of(b.born)).second);
      CHECK(b.born.equal_to == 0);
      bred_again += b.born.attempt;
    }
    // The space is small enough for the law to have been at work.
    if (!s.careful)
      CHECK(bred_again > 0);
  }
}

TEST_CASE("strategy: a space smaller than the budget is searched by copies") {
  const toy_world tiny{.size = 5};
  for (const auto& s : specimens())
    for (const bool mixed : {false, true}) {
      INFO(s.name << (mixed ? ", mixed" : ""));
      auto search = toy_simulation(s.rules, tiny);
      if (mixed)
        search.pick = shuffled(5);
      std::set<genome_hash> trained;
      search.evaluate = [&](const candidate& c) {
        CHECK(trained.insert(training_of(c)).second);
        return tiny.evaluate(c);
      };
      const auto run = simulate(search);
      CHECK(trained.size() <= (s.rules.evolution.rungs.empty() ? 5U : 47U));
      CHECK(run.state.evaluated == 48);
      std::size_t copies = 0;
      for (const auto& e : only<candidate_evaluated>(run.records))
        copies += e.evaluated.equal_to == 0 ? 0 : 1;
      CHECK(copies == 48 - trained.size());
    }
}

TEST_CASE("strategy: asking changes nothing and leaves out what was asked before") {
  for (const auto& s : specimens()) {
    INFO(s.name);
    const auto search = *make_strategy(s.rules.evolution, 1);
    const auto all = search->ask();
    REQUIRE(all.size() >= 3);
    CHECK(search->ask().size() == all.size());
    CHECK(search->ask(2).front().id == 3);
    CHECK(search->ask(0, 1).size() == 1);
    CHECK(search->ask(all.back().id).empty());
  }
}

TEST_CASE("strategy: known points are the first new candidates, in their order") {
  for (const auto& s : specimens()) {
    INFO(s.name);
    auto rules = s.rules;
    for (const int x : {31, 12, 23})
      rules.evolution.own.of<known_points>().points.push_back(
          fmt::format("[points.p{}]\nhyperparameters = {{x = {}}}\n", x, x));
    const auto whole = simulate(toy_simulation(rules));
    std::vector<std::int64_t> found;
    std::size_t fresh = 0;
    for (const auto& [born] : only<candidate_born>(whole.records)) {
      if (born.start == 0 && found.size() < 3)
        ++fresh;
      if (born.changes.front().kind == change_kind::seeded)
        found.push_back(toy_number(*born.genome));
    }
    CHECK(found == std::vector<std::int64_t>{31, 12, 23});
    CHECK(fresh == 3);
    for (std::size_t stop = 0; stop < whole.records.size(); stop += 5) {
      const auto resumed =
          simulate(toy_simulation(rules),
                   {whole.records.begin(),
                    whole.records.begin() + static_cast<std::ptrdiff_t>(stop)});
      REQUIRE(resumed.state.digest == whole.state.digest);
    }
  }
}

TEST_CASE("strategy: more known points than the first generation has are refused") {
  evolution_params p{.population = 2};
  p.tournament = p.elites = p.in_flight = 1;
  p.own.of<known_points>().points.resize(3);
  CHECK(validate(p).error().message
        == "evolution.first is a file of 3 points: all must be among the first 2 "
           "candidates; write population = 3");
}

TEST_CASE("strategy: selection climbs where random search does not") {
  double evolved = 0, random = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto mean_of_last = [](const run_rules& rules) {
      return simulate(toy_simulation(rules)).state.generations.back().median_fitness;
    };
    random += mean_of_last(toy_rules("random", seed));
    evolved += mean_of_last(toy_rules("generational", seed));
  }
  CHECK(evolved > random);
}

TEST_CASE("strategy: parameters out of range are named with their bounds") {
  const auto message = [](const evolution_params& p) {
    const auto valid = validate(p);
    const auto made = make_strategy(p, 1);
    REQUIRE(valid.has_value() == made.has_value());
    return valid ? "" : valid.error().message;
  };
  CHECK(message({}).empty());
  CHECK(message({.strategy = "magic"})
        == "evolution.strategy is \"magic\": it must be one of \"auto\", \"random\", "
           "\"grid\", "
           "\"generational\", "
           "\"regularized\", \"envelopenets\", \"mu_plus_lambda\", "
           "\"differential_evolution\", "
           "\"cma_es\", \"surrogate\", \"local_search\", \"tpe\", \"map_elites\", "
           "\"islands\", \"nsga2\", \"nsga3\", \"successive_halving\", "
           "\"hyperband\", \"dehb\", \"asha\", "
           "\"multi_fidelity\", \"median_stopping\", "
           "\"population_based_training\"");
  CHECK(message({.strategy = "surogate"})
        == "evolution.strategy is \"surogate\": did you mean \"surrogate\"?");
  CHECK(message({.strategy = "autom"})
        == "evolution.strategy is \"autom\": did you mean \"auto\"?");
  CHECK(message({.strategy = "auto"}).starts_with("evolution.strategy is \"auto\""));
  CHECK(message({.population = 0})
        == "evolution.population is 0: it must be from 1 to 1000000");
  CHECK(message({.generations = 0})
        == "evolution.generations is 0: it must be from 1 to 1000000");
  CHECK(message({.selection = "luck"})
        == "evolution.selection is \"luck\": it must be one of \"tournament\", "
           "\"truncation\", \"lexicase\"");
  CHECK(message({.tournament = 0})
        == "evolution.tournament is 0: it must be from 1 to 24");
  CHECK(message({.tournament = 25})
        == "evolution.tournament is 25: it must be from 1 to 24");
  CHECK(message({.truncation = 0})
        == "evolution.truncation is 0.0: it is a share, above 0 and at most 1");
  CHECK(message({.elites = 25}) == "evolution.elites is 25: it must be from 0 to 24");
  CHECK(message({.crossover = 1.5})
        == "evolution.crossover is 1.5: it is a chance, from 0 to 1");
  CHECK(message({.crossover = std::numeric_limits<double>::quiet_NaN()}) != "");
  CHECK(message({.strategy = "regularized", .in_flight = 25})
        == "evolution.in_flight is 25: it must be from 1 to 24");
  CHECK(message({.strategy = "random", .population = 2}).empty());
  CHECK(message({.strategy = "mu_plus_lambda", .elites = 0})
        == "evolution.elites is 0: it must be from 1 to 1000000");
  CHECK(message({.strategy = "cma_es", .population = 3})
        == "evolution.population is 3: it must be from 4 to 1000000");
  CHECK(message({.strategy = "differential_evolution", .population = 3})
        == "evolution.population is 3: it must be from 4 to 1000000");
  CHECK(message({.strategy = "differential_evolution",
                 .own = difference_params{.weight = 2.5}})
        == "evolution.difference_weight is 2.5: it must be from 0 to 2");
  CHECK(message({.strategy = "differential_evolution",
                 .own = difference_params{.base = "luck"}})
        == "evolution.difference_base is \"luck\": it must be one of \"random\", "
           "\"current_to_best\"");
  CHECK(message({.own = difference_params{.base = "luck"}}).empty());
  CHECK(message({.strategy = "mu_plus_lambda", .population = 1, .elites = 2}).empty());
}

TEST_CASE(
    "strategy: one for a single objective refuses several and says which does not") {
  const auto space = toy_world{}.space();
  objective goal{.others = {{.metric = "parameters", .maximize = false}}};
  const auto refused = [&](const char* strategy) {
    const auto ok = check_strategy({.strategy = strategy}, space, goal);
    return ok ? "" : ok.error().message;
  };
  CHECK(refused("regularized")
        == "evolution.strategy is \"regularized\": it raises one objective and the "
           "experiment has 2, which strategy = \"nsga2\" weighs against each other");
  CHECK(refused("nsga2") == "");
  CHECK(refused("random") == "");
  CHECK(refused("surrogate") == "");
  goal.others.resize(3, goal.others.front());
  CHECK_THAT(refused("generational"), Catch::Contains("strategy = \"nsga3\""));
  CHECK(refused("nsga3") == "");
  goal.others.clear();
  goal.constraints = {{.metric = "parameters", .limit = 10}};
  CHECK(refused("generational") == "");
}
