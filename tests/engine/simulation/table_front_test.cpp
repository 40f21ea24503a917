#include "engine/simulation/table_front.hpp"
#include "engine/simulation/table_search.hpp"
#include "tests/support/small_table.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace clade;

namespace {

/// Four rows: accuracy as told and in truth, and what each costs.
benchmark_table priced() {
  auto t = read_table(R"(files = ["x.csv"]
cost = "time"
[hyperparameters]
x = {low = 0, high = 4}
[objective]
maximize = "validation.accuracy"
[metrics]
validation.accuracy = "told"
test.accuracy = "true"
parameters = "size"
)",
                      {"x,told,true,size,time\n0,10,0.1,1,5\n1,20,0.3,10,4\n"
                       "2,30,0.2,1000,3\n3,40,0.4,100,2\n4,nan,nan,1,1\n"});
  if (!t)
    FAIL(t.error().message);
  return std::move(*t);
}

const std::vector<aim> small{{"parameters", false}};

} // namespace

TEST_CASE("table front: each metric is the share of rows that are worse") {
  const auto table = priced();
  const auto goal = objective_of(table.description(), small);
  REQUIRE(goal);
  const auto all = front_of(table, *goal);
  REQUIRE(all);
  CHECK(all->truths[0] == objective_point{0, 1});
  CHECK(all->truths[1] == objective_point{2.0 / 3, 2.0 / 3});
  CHECK(all->truths[2] == objective_point{1.0 / 3, 0});
  CHECK(all->truths[3] == objective_point{1, 1.0 / 3});
  CHECK(all->truths[4].empty());
  // The volume is that of #1 and #3; that of #0 has no extent.
  CHECK(all->hypervolume == Approx(5.0 / 9));
}

TEST_CASE("table front: what was evaluated falls short by what it leaves out") {
  const auto table = priced();
  const auto all = front_of(table, *objective_of(table.description(), small));
  REQUIRE(all);
  found_front found(*all);
  CHECK(found.regret() == all->hypervolume);
  found.add(4); // Diverged.
  found.add(2); // The worst in parameters: without extent.
  CHECK(found.regret() == all->hypervolume);
  found.add(1);
  CHECK(found.regret() == Approx(1.0 / 9));
  found.add(2);
  CHECK(found.regret() == Approx(1.0 / 9));
  found.add(3);
  CHECK(found.regret() == Approx(0).margin(1e-12));
}

TEST_CASE("table front: a metric that is not there is named with those that are") {
  const auto d = priced().description();
  const auto wrong = [&](const char* metric) {
    const auto goal = objective_of(d, std::vector<aim>{{metric, false}});
    return goal ? "" : goal.error().message;
  };
  CHECK(wrong("size")
        == "t.toml has no metric size; it has parameters, seconds, validation.accuracy");
  CHECK(wrong("test.accuracy")
        == "t.toml keeps test.accuracy for the end; it has parameters, seconds, "
           "validation.accuracy");
  CHECK(wrong("validation.accuracy")
        == "t.toml is searched by validation.accuracy already; name another metric, of "
           "parameters, seconds, validation.accuracy");
  CHECK(wrong("seconds").empty());
}

TEST_CASE("table front: strategies for several objectives find all of it") {
  const auto table = std::make_shared<const benchmark_table>(priced());
  const auto standard =
      standard_of(*table, std::vector<aim>{{"parameters", false}, {"seconds", false}});
  REQUIRE(standard);
  for (const char* strategy : {"random", "nsga2", "nsga3", "surrogate"}) {
    INFO(strategy);
    const auto r = search_table(table, *standard,
                                {.evolution = {.strategy = strategy,
                                               .population = 4,
                                               .tournament = 2,
                                               .in_flight = 1},
                                 .evaluations = 5});
    REQUIRE(r);
    CHECK(r->regret.size() == 5);
    CHECK(r->regret.front() > 0);
    CHECK(r->regret.back() == Approx(0).margin(1e-12));
  }
}
