#include "engine/simulation/planned_work.hpp"
#include "tests/support/small_run.hpp"

#include <catch2/catch.hpp>

#include <map>

using namespace clade;

namespace {

run_rules rules_of(const std::string& strategy, std::vector<std::uint32_t> rungs = {}) {
  run_rules rules{.objective = {.metric = "validation.accuracy"},
                  .seed = 1,
                  .space = std::make_shared<const search_space>(small_space())};
  rules.evolution = {.strategy = strategy,
                     .population = 9,
                     .generations = 2,
                     .in_flight = 4,
                     .rungs = std::move(rungs),
                     .reduction = {}};
  if (!rules.evolution.rungs.empty())
    rules.evolution.reduction = 3;
  return rules;
}

} // namespace

TEST_CASE("planned work: without rungs every candidate is trained in full") {
  CHECK(planned_epochs(rules_of("generational"), small_problem(), 15)
        == std::uint64_t{18 * 15});
}

TEST_CASE("planned work: what goes on is counted for what it adds") {
  auto rules = rules_of("successive_halving", {1, 3, 9});
  rules.evolution.population = 24;
  rules.evolution.generations = 4;
  // With another fitness: who is promoted differs, and how many are does not, but
  // that a search which climbs makes more copies of equal networks.
  const auto run = simulate(small_run(rules));
  std::map<candidate_id, std::uint32_t> reached;
  std::uint64_t sum = 0;
  for (const auto& r : run.records)
    if (const auto* b = std::get_if<candidate_born>(&r)) {
      reached[b->born.id] = b->born.epochs;
      if (b->born.equal_to == 0)
        sum += b->born.epochs - (b->born.start != 0 ? reached.at(b->born.start) : 0);
    }
  const auto planned = planned_epochs(rules, small_problem(), 9);
  REQUIRE(planned);
  CHECK(static_cast<double>(*planned) == Approx(static_cast<double>(sum)).epsilon(0.2));
  CHECK(*planned < 96 * 9 / 3);
}

TEST_CASE("planned work: a generation is open at once, or what is in flight") {
  const auto open = [](const std::string& strategy, std::uint64_t slots) {
    return open_at_once(rules_of(strategy), small_problem(), slots);
  };
  CHECK(open("generational", 100) == std::uint64_t{9});
  CHECK(open("regularized", 100) == std::uint64_t{4});
  CHECK(open("regularized", 3) == std::uint64_t{3});
}
