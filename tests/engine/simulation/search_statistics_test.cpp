#include "engine/simulation/search_statistics.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cmath>

using namespace clade;

namespace {

search_outcome outcome_of(std::vector<double> regret, std::optional<double> first_top) {
  return {.regret = std::move(regret),
          .first_top = first_top,
          .first_best = first_top,
          .ask_mean_seconds = 0.002,
          .ask_max_seconds = 0.004};
}

search_comparison small_comparison() {
  const std::vector<std::size_t> checkpoints{1, 2};
  const std::vector<search_outcome> good{outcome_of({4, 1}, 2), outcome_of({6, 3}, 1)};
  const std::vector<search_outcome> bad{outcome_of({5, 4}, std::nullopt),
                                        outcome_of({5, 4}, 2)};
  search_comparison c{.seeds = 2, .evaluations = 2, .checkpoints = checkpoints};
  c.tables.push_back(
      {"a", {row_of("good", good, checkpoints), row_of("bad", bad, checkpoints)}});
  c.tables.push_back(
      {"b", {row_of("good", good, checkpoints), row_of("bad", bad, checkpoints)}});
  return c;
}

} // namespace

TEST_CASE("search statistics: the interval is Student's") {
  CHECK(student_quantile(1) == Approx(12.706));
  CHECK(student_quantile(9) == Approx(2.262).epsilon(1e-3));
  CHECK(student_quantile(30) == Approx(2.042).epsilon(1e-3));
  CHECK(student_quantile(99) == Approx(1.984).epsilon(1e-3));
  const std::vector<double> values{1, 2, 3, 4};
  const auto m = mean_of(values);
  CHECK(m.mean == 2.5);
  // 3.182 * sqrt(5 / 3) / 2
  CHECK(m.half == Approx(2.0540).epsilon(1e-3));
  CHECK(mean_of(std::vector<double>{7}).half == 0);
}

TEST_CASE("search statistics: a median counts what never came as the last") {
  CHECK(median_of({3.0, 1.0, 2.0}) == 2.0);
  CHECK(median_of({3.0, 1.0, 2.0, 10.0}) == 2.5);
  CHECK(median_of({3.0, std::nullopt, 1.0}) == 3.0);
  CHECK(median_of({std::nullopt, 1.0, std::nullopt}) == std::nullopt);
  CHECK(median_of({1.0, std::nullopt}) == std::nullopt);
  CHECK(median_of({}) == std::nullopt);
}

TEST_CASE("search statistics: a mean of evaluations is of seeds that all found it") {
  const auto all = until_of({3.0, 1.0, 8.0});
  CHECK(all.median == 3);
  CHECK(all.mean == 4);
  CHECK(all.seeds == 3);
  const auto some = until_of({3.0, std::nullopt, 1.0});
  CHECK(some.median == 3);
  CHECK(some.mean == std::nullopt);
  CHECK(some.seeds == 2);
  CHECK(until_of({}).mean == std::nullopt);
}

TEST_CASE("search statistics: equal ones share their ranks") {
  CHECK(ranks_of(std::vector<double>{0.5, 0.1, 0.9}) == std::vector<double>{2, 1, 3});
  CHECK(ranks_of(std::vector<double>{2, 1, 2, 2}) == std::vector<double>{3, 1, 3, 3});
}

TEST_CASE("search statistics: strategies are compared over tables") {
  const auto c = small_comparison();
  CHECK(c.tables[0].rows[0].regret[1].mean == 2);
  CHECK(c.tables[0].rows[0].top.median == 1.5);
  CHECK(c.tables[0].rows[1].top.median == std::nullopt);
  CHECK(c.tables[0].rows[1].top.seeds == 1);
  CHECK(mean_ranks(c, 0) == std::vector<double>{1.5, 1.5});
  CHECK(mean_ranks(c, 1) == std::vector<double>{1, 2});
  CHECK(regret_ratio(c, "good", "bad") == Approx(0.5));
  CHECK(regret_ratio(c, "bad", "good") == Approx(2));
  CHECK(regret_ratio(c, "good", "nobody") == std::nullopt);
}

TEST_CASE("search statistics: a row that not all tables have gets no mean rank") {
  auto c = small_comparison();
  c.tables[0].rows.push_back(c.tables[0].rows[0]);
  c.tables[0].rows.back().name = "somewhere";
  CHECK(everywhere(c) == std::vector<std::string>{"good", "bad"});
  CHECK(mean_ranks(c, 1) == std::vector<double>{1, 2});
}

TEST_CASE(
    "search statistics: rows are told how long they take to the yardstick's regret") {
  auto c = small_comparison();
  const auto& good = c.tables[0].rows[0];
  CHECK(good.curve == std::vector<double>{5, 2});
  CHECK(evaluations_to(good, 5) == 1U);
  CHECK(evaluations_to(good, 4.9) == 2U);
  CHECK(evaluations_to(good, 1) == std::nullopt);
  c.yardstick = "bad";
  c.tables.pop_back();
  CHECK_THAT(to_text(c), Catch::Contains("  as bad  after 1  after 2\n"
                                         "  good          1        2\n"));
  const auto read = nlohmann::json::parse(to_json(c));
  CHECK(read["tables"][0]["rows"][0]["as_bad"] == nlohmann::json{1, 2});
}

TEST_CASE("search statistics: people read tables, programs one line") {
  const auto c = small_comparison();
  CHECK(to_text(c)
        == "a\n"
           "  mean regret       after 1       after 2  to a top row  reached  to the "
           "best  mean  "
           "reached  ask mean  "
           "ask "
           "max\n"
           "  good         5.00 +-12.71  2.00 +-12.71           1.5    100 %          "
           "1.5   1.5    100 %  2.000 ms  "
           "4.00 ms\n"
           "  bad           5.00 +-0.00   4.00 +-0.00           > 2     50 %          > "
           "2   > 2     50 %  2.000 ms  "
           "4.00 ms\n\n"
           "b\n"
           "  mean regret       after 1       after 2  to a top row  reached  to the "
           "best  mean  "
           "reached  ask mean  "
           "ask "
           "max\n"
           "  good         5.00 +-12.71  2.00 +-12.71           1.5    100 %          "
           "1.5   1.5    100 %  2.000 ms  "
           "4.00 ms\n"
           "  bad           5.00 +-0.00   4.00 +-0.00           > 2     50 %          > "
           "2   > 2     50 %  2.000 ms  "
           "4.00 ms\n\n"
           "over 2 tables, 2 seeds each\n"
           "  mean rank  after 1  after 2\n"
           "  good          1.50     1.00\n"
           "  bad           1.50     2.00\n"
           "of 4 searches each, among those of the same table and seed\n"
           "  mean rank      after 1      after 2\n"
           "  good       1.50 +-0.92  1.00 +-0.00\n"
           "  bad        1.50 +-0.92  2.00 +-0.00\n");
  const auto read = nlohmann::json::parse(to_json(c));
  CHECK(read["tables"][0]["rows"][0]["regret"][1] == 2);
  CHECK(read["tables"][0]["rows"][1]["median_to_top"].is_null());
  CHECK(read["tables"][0]["rows"][0]["mean_to_best"] == 1.5);
  CHECK(read["tables"][0]["rows"][1]["mean_to_best"].is_null());
  CHECK(read["tables"][0]["rows"][1]["reached_best"] == 1);
  CHECK(read["mean_ranks"]["bad"][1] == 2);
  CHECK(read["search_ranks"]["bad"]["mean"][1] == 2);
  CHECK(read["tables"][0]["rows"][0]["regret_of_seeds"][1][1] == 3);
}

TEST_CASE(
    "search statistics: searches of one table and seed are ranked among each other") {
  const std::vector<std::size_t> checkpoints{1};
  const auto row = [&](const char* name, std::vector<double> regrets) {
    std::vector<search_outcome> seeds;
    for (const double r : regrets)
      seeds.push_back(outcome_of({r}, std::nullopt));
    return row_of(name, seeds, checkpoints);
  };
  search_comparison c{.seeds = 3, .evaluations = 1, .checkpoints = checkpoints};
  c.tables = {{"a", {row("x", {1, 1, 9}), row("y", {2, 1, 3})}},
              // The result of y for the third seed is not known here.
              {"b", {row("x", {5, 5, 5}), row("y", {4, 6})}}};
  const auto ranks = search_ranks(c, 0);
  REQUIRE(ranks.size() == 2);
  CHECK(common_seeds(c.tables[0], 0) == 3);
  CHECK(common_seeds(c.tables[1], 0) == 2);
  // The ranks of x are 1, 1.5, 2 and 2, 1; their variance is 0.25.
  CHECK(ranks[0].mean == Approx(1.5));
  CHECK(ranks[1].mean == Approx(1.5));
  CHECK(ranks[0].half == Approx(2.776 * std::sqrt(0.25 / 5)));
}

TEST_CASE("search statistics: rows that were written are read again and added") {
  auto c = small_comparison();
  const auto again = parse_comparison(to_json(c), "x.json");
  REQUIRE(again);
  CHECK(to_json(*again) == to_json(c));
  CHECK(to_text(*again) == to_text(c));
  auto others = *again;
  for (auto& t : others.tables)
    for (auto& row : t.rows)
      row.name += " elsewhere";
  c.checkpoints = {2};
  for (auto& t : c.tables)
    for (auto& row : t.rows) {
      row.regret.erase(row.regret.begin());
      row.regret_of_seeds.erase(row.regret_of_seeds.begin());
    }
  REQUIRE(add_rows(c, others, "x.json"));
  CHECK(c.tables[1].rows[2].name == "good elsewhere");
  CHECK(c.tables[1].rows[2].regret_of_seeds == std::vector<std::vector<double>>{{1, 3}});
  CHECK(mean_ranks(c, 0) == std::vector<double>{1.5, 3.5, 1.5, 3.5});
}

TEST_CASE("search statistics: files of one table each are joined") {
  const auto whole = small_comparison();
  auto a = whole, b = whole;
  a.tables.pop_back();
  b.tables.erase(b.tables.begin());
  const auto both = joined(a, b, "b.json");
  REQUIRE(both);
  CHECK(to_json(*both) == to_json(whole));
  b.checkpoints = {1, 3};
  CHECK(joined(a, b, "b.json").error().message
        == "b.json: has other checkpoints than the file before it; run both with the "
           "same --evaluations");
}

TEST_CASE("search statistics: what cannot be compared is refused, and changes nothing") {
  auto c = small_comparison();
  const auto before = to_json(c);
  const auto refused = [&](auto change) {
    auto others = small_comparison();
    change(others);
    const auto added = add_rows(c, others, "x.json");
    CHECK(to_json(c) == before);
    return added ? std::string("nothing") : added.error().message;
  };
  CHECK(refused([](search_comparison& o) {
          o.checkpoints = {1, 3};
        })
        == "x.json: says nothing of the regret after 2 evaluations; compare with "
           "--evaluations 2");
  CHECK(refused([](search_comparison& o) { o.tables.pop_back(); })
        == "x.json: has no row for the table b; name with --tables those that it has");
  CHECK(refused([](search_comparison& o) { o.tables[1].rows.pop_back(); })
        == "x.json: has other rows for the table b than for a, and so no mean ranks");
  CHECK(refused([](search_comparison& o) { o.tables[1].rows[0].name = "best"; })
        == "x.json: the row \"best\" of the table b is called \"good\" for a");
}

TEST_CASE("search statistics: text that is no comparison is refused in one line") {
  const auto good = nlohmann::json::parse(to_json(small_comparison()));
  const auto refused = [&](auto change) {
    auto bad = good;
    change(bad);
    const auto read = parse_comparison(bad.dump(), "x.json");
    return read ? std::string("nothing") : read.error().message;
  };
  const std::string remedy = "; have it written by \"clade bench search --json\" or "
                             "experiments/peers/optuna_tables.py";
  CHECK(refused([](auto&) {}) == "nothing");
  CHECK(parse_comparison("{", "x.json").error().message
        == "x.json: is not one JSON object" + remedy);
  CHECK(refused([](auto& j) { j.erase("checkpoints"); })
        == "x.json: has no list of checkpoints, or none of tables" + remedy);
  CHECK(refused([](auto& j) { j["tables"][0]["name"] = 3; })
        == "x.json: one of its tables has no name, or no rows" + remedy);
  const auto of_row = "x.json: a row of the table b has no name, or not the regret of "
                      "each seed at each checkpoint (regret_of_seeds)"
                      + remedy;
  CHECK(refused([](auto& j) { j["tables"][1]["rows"][0].erase("regret_of_seeds"); })
        == of_row);
  CHECK(refused(
            [](auto& j) { j["tables"][1]["rows"][1]["regret_of_seeds"][0][0] = nullptr; })
        == of_row);
  CHECK(refused([](auto& j) { j["tables"][1]["rows"][1]["regret_of_seeds"][0].clear(); })
        == of_row);
}
