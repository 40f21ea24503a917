// The laws that every strategy obeys, over a table of them; a new strategy gets a row.
#include "engine/evolution/strategy.hpp"
#include "tests/engine/evolution/toy_world.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

using namespace clade;

namespace {

struct specimen {
  const char* name;
  run_rules rules;
  bool orderly; ///< Decides the same in whatever order results come.
};

run_rules inheriting(const std::string& strategy, std::uint64_t seed) {
  auto rules = toy_rules(strategy, seed);
  rules.evolution.inherit = true;
  return rules;
}

std::vector<specimen> specimens(std::uint64_t seed = 1) {
  auto truncation = toy_rules("generational", seed);
  truncation.evolution.selection = "truncation";
  auto arrived = toy_rules("regularised", seed);
  arrived.evolution.tell_order = "arrived";
  return {{"random", toy_rules("random", seed), true},
          {"generational by tournament", toy_rules("generational", seed), true},
          {"generational by truncation", truncation, true},
          {"regularised as asked", toy_rules("regularised", seed), true},
          {"regularised as arrived", arrived, false},
          {"generational with inherited weights", inheriting("generational", seed), true},
          {"regularised with inherited weights", inheriting("regularised", seed), true}};
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

TEST_CASE("strategy: the order in which results come leaves no trace") {
  for (const auto& s : specimens()) {
    INFO(s.name);
    const auto expected = simulate(toy_simulation(s.rules)).state.digest;
    for (std::uint64_t order = 1; order <= 40; ++order) {
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
  for (const auto& s : specimens()) {
    INFO(s.name);
    const auto whole = simulate(toy_simulation(s.rules));
    const auto expected = texts(whole.records);
    for (std::size_t stop = 0; stop < whole.records.size(); ++stop) {
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
  for (const auto& s : specimens()) {
    if (!s.orderly)
      continue;
    INFO(s.name);
    auto mixed = toy_simulation(s.rules);
    mixed.pick = shuffled(7);
    const auto whole = simulate(mixed);
    for (std::size_t stop = 1; stop < whole.records.size(); ++stop) {
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

TEST_CASE("strategy: no network is asked for twice while there are others") {
  for (const auto& s : specimens()) {
    INFO(s.name);
    const auto run = simulate(toy_simulation(s.rules, {.size = 400}));
    std::set<genome_hash> networks;
    std::uint64_t bred_again = 0;
    for (const auto& b : only<candidate_born>(run.records)) {
      CHECK(networks.insert(b.born.network).second);
      CHECK(b.born.equal_to == 0);
      bred_again += b.born.attempt;
    }
    CHECK(bred_again > 0); // The space is small enough for the law to have been at work.
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
      std::set<std::int64_t> trained;
      search.evaluate = [&](const candidate& c) {
        CHECK(trained.insert(toy_number(*c.genome)).second);
        return tiny.evaluate(c);
      };
      const auto run = simulate(search);
      CHECK(trained.size() <= 5);
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
        == "evolution.strategy is \"magic\": it must be one of \"random\", "
           "\"generational\", "
           "\"regularised\"");
  CHECK(message({.population = 0})
        == "evolution.population is 0: it must be from 1 to 1000000");
  CHECK(message({.generations = 0})
        == "evolution.generations is 0: it must be from 1 to 1000000");
  CHECK(message({.selection = "luck"})
        == "evolution.selection is \"luck\": it must be one of \"tournament\", "
           "\"truncation\"");
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
  CHECK(message({.strategy = "regularised", .in_flight = 25})
        == "evolution.in_flight is 25: it must be from 1 to 24");
  CHECK(message({.strategy = "random", .population = 2}).empty());
}
