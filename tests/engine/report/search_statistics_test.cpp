#include "engine/report/search_statistics.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace clade;

namespace {

search_outcome outcome_of(std::vector<double> regret, std::optional<double> first_top) {
  return {.regret = std::move(regret),
          .first_top = first_top,
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

TEST_CASE("search statistics: equal ones share their ranks") {
  CHECK(ranks_of(std::vector<double>{0.5, 0.1, 0.9}) == std::vector<double>{2, 1, 3});
  CHECK(ranks_of(std::vector<double>{2, 1, 2, 2}) == std::vector<double>{3, 1, 3, 3});
}

TEST_CASE("search statistics: strategies are compared over tables") {
  const auto c = small_comparison();
  CHECK(c.tables[0].rows[0].regret[1].mean == 2);
  CHECK(c.tables[0].rows[0].median_to_top == 1.5);
  CHECK(c.tables[0].rows[1].median_to_top == std::nullopt);
  CHECK(c.tables[0].rows[1].reached_top == 1);
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
           "  mean regret       after 1       after 2  to a top row  reached  ask mean  "
           "ask "
           "max\n"
           "  good         5.00 +-12.71  2.00 +-12.71           1.5    100 %  2.000 ms  "
           "4.00 ms\n"
           "  bad           5.00 +-0.00   4.00 +-0.00           > 2     50 %  2.000 ms  "
           "4.00 ms\n\n"
           "b\n"
           "  mean regret       after 1       after 2  to a top row  reached  ask mean  "
           "ask "
           "max\n"
           "  good         5.00 +-12.71  2.00 +-12.71           1.5    100 %  2.000 ms  "
           "4.00 ms\n"
           "  bad           5.00 +-0.00   4.00 +-0.00           > 2     50 %  2.000 ms  "
           "4.00 ms\n\n"
           "over 2 tables, 2 seeds each\n"
           "  mean rank  after 1  after 2\n"
           "  good          1.50     1.00\n"
           "  bad           1.50     2.00\n");
  const auto read = nlohmann::json::parse(to_json(c));
  CHECK(read["tables"][0]["rows"][0]["regret"][1] == 2);
  CHECK(read["tables"][0]["rows"][1]["median_to_top"].is_null());
  CHECK(read["mean_ranks"]["bad"][1] == 2);
}
