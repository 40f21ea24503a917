// The orders of people while a run goes on, as far as it decides.
#include "engine/run/steps/verify.hpp"
#include "tests/support/small_run.hpp"
#include "tests/support/verified.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

constexpr const char* strategies[] = {"random", "generational", "regularized"};

run_rules rules_for(const std::string& strategy) {
  run_rules rules;
  rules.evolution.strategy = strategy;
  rules.evolution.population = 6;
  rules.evolution.generations = 4;
  rules.evolution.elites = 2;
  rules.evolution.in_flight = 3;
  rules.seed = 11;
  return rules;
}

/// A run to which this is told behind that record.
simulated told_behind(const std::string& strategy, std::size_t behind,
                      const instruction& order) {
  auto world = small_run(rules_for(strategy), {.diverge = 0.1, .epochs = 2});
  world.pick = shuffled(3);
  auto stored = simulate(world, {}, behind).records;
  stored.push_back(operator_command{.order = order, .who = "ada"});
  return simulate(world, std::move(stored));
}

verification verify(const std::string& strategy, const std::vector<record>& records) {
  return verified(
      [&](const std::string&) {
        return replay_rules{.fold = rules_for(strategy),
                            .space = small_space(),
                            .problem = small_problem(),
                            .search = {}};
      },
      records);
}

std::shared_ptr<const genome> a_gift() {
  auto random = derive(99, purpose::sample, 0, 0);
  return std::make_shared<const genome>(
      sample(small_space(), small_problem(), random).value().child);
}

} // namespace

TEST_CASE("orders: an extended run has so many more generations, wherever it was told") {
  for (const auto* strategy : strategies)
    for (const std::size_t behind : {1, 9, 20, 41}) {
      INFO(strategy << ", behind " << behind);
      const auto run =
          told_behind(strategy, behind, {.kind = instruction_kind::extend, .number = 2});
      CHECK(run.state.generations.size() == 6);
      CHECK(run.state.evaluated == 36);
      CHECK_FALSE(verify(strategy, run.records).first);
      // The place in the run at which it was told is of no consequence.
      CHECK(run.state.digest
            == told_behind(strategy, 5, {.kind = instruction_kind::extend, .number = 2})
                   .state.digest);
    }
}

TEST_CASE("orders: a given genome is evaluated once, as a candidate without parents") {
  for (const auto* strategy : strategies)
    for (const std::size_t behind : {2, 15, 30}) {
      INFO(strategy << ", behind " << behind);
      const auto gift = a_gift();
      const auto run = told_behind(
          strategy, behind,
          {.kind = instruction_kind::add, .text = "#7 of other", .genome = gift});
      CHECK(run.state.evaluated == 24);
      std::size_t found = 0;
      for (const auto& r : run.records)
        if (const auto* b = std::get_if<candidate_born>(&r);
            b != nullptr && to_text(b->born.changes) == "#7 of other") {
          ++found;
          CHECK(*b->born.genome == *gift);
          CHECK(b->born.parents.empty());
        }
      CHECK(found == 1);
      CHECK_FALSE(verify(strategy, run.records).first);
    }
}

TEST_CASE("orders: one that comes when nothing is left to decide changes nothing") {
  for (const auto* strategy : strategies) {
    const auto whole = simulate(small_run(rules_for(strategy), {.epochs = 2}));
    const auto last = whole.records.size() - 1;
    auto world = small_run(rules_for(strategy), {.epochs = 2});
    auto stored = simulate(world, {}, last).records;
    for (const auto& order :
         {instruction{.kind = instruction_kind::extend, .number = 2},
          instruction{.kind = instruction_kind::add, .text = "x", .genome = a_gift()}})
      stored.push_back(operator_command{.order = order, .who = "ada"});
    const auto run = simulate(world, std::move(stored));
    CHECK(run.state.evaluated == whole.state.evaluated);
    CHECK(run.state.finished);
  }
}
