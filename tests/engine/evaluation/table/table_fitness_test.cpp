#include "engine/evaluation/table/table_fitness.hpp"
#include "tests/support/listener.hpp"
#include "tests/support/small_table.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

std::unique_ptr<fitness_function> small_fitness() {
  auto t = read_table(small_description, {small_rows});
  if (!t)
    FAIL(t.error().message);
  return make_table_fitness(std::make_shared<const benchmark_table>(std::move(*t)));
}

evaluation evaluated(const genome& g, std::uint64_t seed, std::uint32_t epochs = 40) {
  unheard_progress nobody;
  return small_fitness()
      ->evaluate({.id = 7, .genome = g, .seed = seed, .budget = {.epochs = epochs}},
                 nobody)
      .evaluation;
}

} // namespace

TEST_CASE("table fitness: an evaluation is what one seed gave, without the test") {
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 16; ++seed)
    seen.insert(to_text(evaluated(small_genome("pool", 8), seed)));
  CHECK(seen
        == std::set<std::string>{"#7: succeeded, seconds=8.0 validation.accuracy=40.0",
                                 "#7: succeeded, seconds=8.0 validation.accuracy=42.0"});
}

TEST_CASE("table fitness: equal networks have equal evaluations in a run") {
  auto renamed = small_genome("pool", 8);
  renamed.edges[0].id = innovation{77};
  for (std::uint64_t seed = 0; seed < 8; ++seed)
    CHECK(evaluated(renamed, seed).metrics
          == evaluated(small_genome("pool", 8), seed).metrics);
}

TEST_CASE("table fitness: the budget's epochs choose the fidelity") {
  const auto g = small_genome("conv", 8);
  CHECK(find(evaluated(g, 1, 39).metrics, "validation.accuracy") == 10.0);
  CHECK(find(evaluated(g, 1, 39).metrics, "seconds") == 1.0);
  const auto none = evaluated(g, 1, 9);
  CHECK(none.outcome == outcome::invalid);
  CHECK(none.reason == "t.toml has nothing of 9 epochs or fewer");
  listener all;
  static_cast<void>(
      small_fitness()->evaluate({.id = 1, .genome = g, .budget = {.epochs = 1000}}, all));
  REQUIRE(all.heard.size() == 2);
  CHECK(all.heard[0].number == 10);
  CHECK(all.heard[1].number == 40);
  listener first;
  first.patience = 1;
  const auto stopped = small_fitness()->evaluate(
      {.id = 1, .genome = g, .budget = {.epochs = 1000}}, first);
  CHECK(stopped.evaluation.outcome == outcome::timed_out);
}

TEST_CASE("table fitness: a setting that is not there or was not run is invalid") {
  CHECK(evaluated(small_genome("pool", 32), 1).outcome == outcome::invalid);
  CHECK(evaluated(small_genome("pool", 32), 1).reason
        == "t.toml has no row with op=pool, width=32");
  CHECK(evaluated(small_genome("pool", 16), 1).outcome == outcome::invalid);
  CHECK(evaluated(small_genome("pool", 16), 1).reason
        == "t.toml has no validation.accuracy for op=pool, width=16");
  CHECK(evaluated(small_genome("pool", 16), 1, 10).outcome == outcome::succeeded);
}

TEST_CASE("table fitness: what is not finite diverged") {
  std::set<outcome> outcomes;
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    const auto e = evaluated(small_genome("conv", 32), seed);
    outcomes.insert(e.outcome);
    if (e.outcome == outcome::diverged)
      CHECK(e.reason == "a metric is not finite at epoch 40");
  }
  CHECK(outcomes == std::set<outcome>{outcome::succeeded, outcome::diverged});
}

TEST_CASE("table fitness: a test is the mean over seeds, and of what is there") {
  const auto f = small_fitness();
  const auto e = f->examine({.id = 3, .genome = small_genome("conv", 8)}, {});
  REQUIRE(e);
  CHECK(e->metrics == std::vector<metric>{{"test.accuracy", 21.0}});
  const auto none = f->examine({.id = 3, .genome = small_genome("pool", 32)}, {});
  REQUIRE(!none);
  CHECK(none.error().message == "t.toml has no row with op=pool, width=32");
  const auto without =
      read_table(with(small_description, "test.accuracy = \"test\"\n", ""), {small_rows});
  REQUIRE(without);
  const auto mean = make_table_fitness(std::make_shared<const benchmark_table>(*without))
                        ->examine({.id = 3, .genome = small_genome("conv", 8)}, {});
  REQUIRE(mean);
  CHECK(mean->metrics.empty()); // The metric that was searched by is no test.
}
