#include "engine/export/rows/prediction_score.hpp"
#include "tests/engine/export/made_up_preprocessing.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace clade;

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

double metric_of(const prediction_score& score, const std::string& name) {
  for (const auto& m : score.metrics)
    if (m.name == name)
      return m.value;
  FAIL("no " << name);
  return 0;
}

} // namespace

TEST_CASE("prediction score: classes are compared, and what has no target left out") {
  const preprocessing how{.task = classification, .classes = {"no", "yes"}};
  // no, yes, yes, no
  const std::vector<float> outputs{2, 0, 0, 2, 0, 2, 2, 0};
  const new_targets targets{
      .values = {0, 1, 0, none}, .blanks = 0, .unknown = 1, .example = "perhaps"};
  const auto score = score_predictions(outputs, {.targets = targets}, how, std::nullopt);
  REQUIRE(score);
  CHECK(score->rows == 3);
  CHECK(score->left_out == 1);
  CHECK(metric_of(*score, "accuracy") == Approx(2.0 / 3));
  CHECK(metric_of(*score, "balanced_accuracy") == Approx(0.75));
  CHECK(!score->coverage);
  CHECK(score_text(*score, std::nullopt).starts_with("3 rows: accuracy 0.6667, loss "));
  CHECK(score_text(*score, std::nullopt).find("top_3") == std::string::npos);
  CHECK(left_out_text(targets)
        == "1 row has one that the training data does not have, such as \"perhaps\"");
}

TEST_CASE("prediction score: the share of values in their intervals is told") {
  // 100, 110, 90, 100
  const std::vector<float> outputs{0, 1, -1, 0};
  const new_targets targets{.values = {102, 110, 95, none}, .blanks = 1};
  const interval_rule within_2{error_quantiles::of({2}), 0.5};
  const auto score =
      score_predictions(outputs, {.targets = targets}, test::of_prices(), within_2);
  REQUIRE(score);
  CHECK(score->rows == 3);
  CHECK(metric_of(*score, "mae") == Approx(7.0 / 3));
  CHECK(score->coverage == Approx(2.0 / 3));
  CHECK(
      score_text(*score, 0.9).ends_with("\n90 % intervals hold 66.7 % of the targets\n"));
  CHECK(score_json(*score, 0.9).find(R"("intervals":{"level":0.9,"coverage":0.66666)")
        != std::string::npos);
  CHECK(score_json(*score, 0.9)
            .starts_with(R"({"rows":3,"left_out":1,"metrics":{"rmse":)"));
  CHECK(left_out_text(targets) == "1 row has no target");
}

TEST_CASE("prediction score: forecasts are compared in units of their series") {
  // 100 and 110 as targets
  const std::vector<float> outputs{0, 1};
  new_examples examples{.targets = new_targets{.values = {101, 114}}};
  examples.forecasts = {{"shop", "day"},
                        {{{"a", "8"}, 1, -200, 2}, {{"b", "9"}, 2, 0, 0.5}}};
  interval_rule rule{error_quantiles::of({2, 4}), 0.5};
  rule.errors.ahead = {{1, 1, {2}}, {2, 1, {3}}};
  const auto score = score_predictions(outputs, examples, test::of_prices(), rule);
  REQUIRE(score);
  CHECK(metric_of(*score, "mase") == Approx(2.5));
  // 0 where 2 came, and 55 where 57.
  CHECK(metric_of(*score, "smape") == Approx((2.0 + 2 * 2.0 / 112) / 2));
  CHECK(score->coverage == Approx(0.5));
}

TEST_CASE("prediction score: without any target there is nothing to score") {
  const std::vector<float> outputs{0, 1};
  const new_targets targets{.values = {none, none}, .blanks = 2};
  CHECK(score_predictions(outputs, {.targets = targets}, test::of_prices(), std::nullopt)
            .error()
            .message
        == "2 rows have no target, so that there is nothing to score");
}
