#include "engine/simulation/table_search.hpp"
#include "tests/support/small_table.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

/// x and y from 0 to 9; the objective, without noise, falls with the distance from (7,
/// 3). After ten epochs it is the same less ten.
std::shared_ptr<const benchmark_table> hill(const std::string& more = "") {
  std::string rows = "x,y,early,late\n";
  for (int x = 0; x < 10; ++x)
    for (int y = 0; y < 10; ++y) {
      const int height = 100 - (x - 7) * (x - 7) - (y - 3) * (y - 3);
      rows += std::to_string(x) + "," + std::to_string(y) + ","
              + std::to_string(height - 10) + "," + std::to_string(height) + "\n";
    }
  auto t = read_table("files = [\"x.csv\"]\nfidelities = [10, 40]\n" + more
                          + "[hyperparameters]\n"
                            "x = {low = 0, high = 9}\ny = {low = 0, high = 9}\n"
                            "[objective]\nmaximize = \"validation.height\"\n[metrics]\n"
                            "validation.height = [\"early\", \"late\"]\n",
                      {rows});
  if (!t)
    FAIL(t.error().message);
  return std::make_shared<const benchmark_table>(std::move(*t));
}

table_search_params by(const std::string& strategy, std::uint64_t seed = 1,
                       std::size_t evaluations = 60) {
  return {.evolution = {.strategy = strategy,
                        .population = 10,
                        .tournament = 3,
                        .crossover = 0,
                        .in_flight = 1},
          .seed = seed,
          .evaluations = evaluations};
}

table_search_result found(const table_search_params& params) {
  const auto table = hill();
  auto r = search_table(table, standard_of(*table).value(), params);
  if (!r)
    FAIL(r.error().message);
  return std::move(*r);
}

} // namespace

TEST_CASE("table search: the standard is the best row, the worst, and the top") {
  const auto table = hill();
  const auto s = standard_of(*table);
  REQUIRE(s);
  CHECK(s->best == 100);
  CHECK(s->worst == 100 - 49 - 36);
  CHECK(s->top[73]);
  // Rows at a distance of 2 (the 13 best) and of the square root of 5 (8 more, tied).
  CHECK(std::ranges::count(s->top, true) == 21);
  const auto none =
      read_table(small_description, {"config,acc10,acc40_s0,acc40_s1,test,time\n"
                                     "00,1,1,1,nan,1\n11,1,1,1,inf,1\n02,1,1,1,,1\n"});
  REQUIRE(none);
  CHECK(standard_of(*none).error().message
        == "t.toml: no row has a finite test.accuracy");
}

TEST_CASE("table search: every strategy finds the hill's top, given the evaluations") {
  for (const auto& name : {"random", "generational", "regularized"}) {
    INFO(name);
    const auto r = found(by(name, 1, 100));
    CHECK(r.regret.size() == 100);
    CHECK(std::ranges::is_sorted(r.regret, std::greater<>()));
    REQUIRE(r.first_top);
    CHECK(*r.first_top >= 1);
    CHECK(r.candidates >= 100);
    CHECK(r.ask_mean_seconds > 0);
    CHECK(r.ask_max_seconds >= r.ask_mean_seconds);
  }
  CHECK(found(by("regularized", 1, 100)).regret.back() == 0);
}

TEST_CASE("table search: the best row is found when its truth is, not before a top one") {
  const auto r = found(by("random", 1, 150)); // All 100 rows.
  REQUIRE(r.first_best);
  CHECK(*r.first_best >= *r.first_top);
  CHECK(r.regret[static_cast<std::size_t>(*r.first_best) - 1] == 0);
  CHECK(r.regret[static_cast<std::size_t>(*r.first_best) - 2] > 0);
}

TEST_CASE("table search: the same seed finds the same, another one another") {
  const auto a = found(by("regularized", 4)), b = found(by("regularized", 4));
  CHECK(a.regret == b.regret);
  CHECK(a.first_top == b.first_top);
  CHECK(a.regret != found(by("regularized", 5)).regret);
}

TEST_CASE("table search: copies are free, and end where nothing else is left") {
  // 150 evaluations of 100 settings: the search goes on until copies alone are born.
  const auto r = found(by("random", 1, 150));
  CHECK(r.regret.size() == 150);
  CHECK(r.regret[99] == 0);
  CHECK(r.candidates > 150);
}

TEST_CASE(
    "table search: a short training costs its share, and one that goes on the rest") {
  // One of four short candidates goes on, so that 20 full trainings pay for more.
  const auto climbing = [](const std::string& more) {
    const auto table = hill(more);
    auto params = by("successive_halving", 1, 20);
    params.evolution.rungs = {10, 40};
    auto r = search_table(table, standard_of(*table).value(), params);
    REQUIRE(r);
    CHECK(r->regret.size() == 20);
    CHECK(std::ranges::is_sorted(r->regret, std::greater<>()));
    return r->candidates;
  };
  const auto going_on = climbing(""), separate = climbing("separate = true\n");
  CHECK(going_on > 40);
  CHECK(going_on < 80);
  CHECK(separate < going_on);
  CHECK(separate > 40);
}

TEST_CASE("table search: what failed is no incumbent") {
  auto t = read_table(small_description, {"config,acc10,acc40_s0,acc40_s1,test,time\n"
                                          "00,1,nan,nan,90,1\n11,1,5,5,20,1\n"
                                          "02,1,,,80,1\n"});
  REQUIRE(t);
  const auto table = std::make_shared<const benchmark_table>(std::move(*t));
  const auto standard = standard_of(*table);
  REQUIRE(standard);
  const auto r = search_table(table, *standard, by("random", 3, 50));
  REQUIRE(r);
  CHECK(r->regret.back() == 70);
}
