#include "engine/search/strategies/registry/islands.hpp"
#include "engine/simulation/ask_cost.hpp"
#include "tests/support/small_space.hpp"

#include <catch2/catch.hpp>

#include <numeric>

using namespace clade;

namespace {

ask_cost_params short_search(const std::string& strategy) {
  return {.evolution = {.strategy = strategy,
                        .population = 10,
                        .tournament = 3,
                        .elites = 2,
                        .in_flight = 4},
          .space = std::make_shared<const search_space>(small_space()),
          .problem = small_problem(),
          .evaluations = 60,
          .measured = 20};
}

} // namespace

TEST_CASE("ask cost: the 99th percentile is the one that a hundredth exceeds at most") {
  std::vector<double> values(200);
  std::iota(values.rbegin(), values.rend(), 1.0);
  const auto s = spread_of(values);
  CHECK(s.mean == Approx(100.5));
  CHECK(s.p99 == 198);
  CHECK(s.most == 200);
  CHECK(spread_of({3.0}).p99 == 3);
}

TEST_CASE(
    "ask cost: the search is as long as it is said, and all of it costs something") {
  for (const char* name :
       {"generational", "regularized", "tpe", "surrogate", "islands"}) {
    INFO(name);
    auto params = short_search(name);
    params.evolution.own = islands_params{.strategies = {"2"}};
    const auto cost = measure_ask_cost(params);
    REQUIRE(cost);
    CHECK(cost->candidates == 60);
    for (const auto& s : {cost->head, cost->breeding}) {
      CHECK(s.mean > 0);
      CHECK(s.p99 <= s.most);
      CHECK(s.mean <= s.most);
    }
    CHECK(cost->seconds > 20 * (cost->head.mean + cost->breeding.mean));
  }
}

TEST_CASE("ask cost: rungs are searched to the end") {
  auto params = short_search("asha");
  params.evolution.rungs = {1, 3, 9};
  const auto cost = measure_ask_cost(params);
  REQUIRE(cost);
  CHECK(cost->candidates == 60);
}

TEST_CASE("ask cost: before the last, models are told and not asked") {
  auto params = short_search("surrogate");
  const auto whole = measure_ask_cost(params);
  params.modelled = 10;
  const auto late = measure_ask_cost(params);
  REQUIRE(whole);
  REQUIRE(late);
  // All but the first few are proposed, some again.
  CHECK(whole->proposals >= 40);
  CHECK(late->proposals >= 10);
  CHECK(late->proposals < 40);
  CHECK(late->candidates == whole->candidates);
}

TEST_CASE("ask cost: a strategy that cannot search the space is refused") {
  CHECK(measure_ask_cost(short_search("cma_es")).error().kind
        == error_kind::invalid_input);
  auto params = short_search("random");
  params.evaluations = 0;
  CHECK(measure_ask_cost(params).error().message
        == "a search without evaluations has no cost");
}
