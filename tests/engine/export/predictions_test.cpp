#include "engine/export/rows/predictions.hpp"
#include "genome/base/random.hpp"
#include "tests/engine/export/made_up_preprocessing.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <cmath>

using namespace clade;

namespace {

preprocessing of_classes() {
  return {.task = classification, .classes = {"no", "yes, \"so\""}};
}

} // namespace

TEST_CASE("predictions: a class and the probability of each, or the class alone") {
  const std::vector<float> scores{0, 0, -1, 1};
  CHECK(predictions_csv(scores, of_classes(), {})
        == "class,p(no),\"p(yes, \"\"so\"\")\"\n"
           "no,0.5,0.5\n"
           "\"yes, \"\"so\"\"\",0.11920292,0.8807971\n");
  CHECK(predictions_csv(scores, of_classes(), {.probabilities = false})
        == "class\nno\n\"yes, \"\"so\"\"\"\n");
}

TEST_CASE("predictions: no class is a formula, unless names are wanted as they are") {
  const preprocessing how{.task = classification,
                          .classes = {"=cmd|' /C calc'!A0", "-1"}};
  const std::vector<float> scores{1, 0, 0, 1};
  CHECK(predictions_csv(scores, how, {.probabilities = false})
        == "class\n'=cmd|' /C calc'!A0\n-1\n");
  CHECK(predictions_csv(scores, how, {.probabilities = false, .as_is = true})
        == "class\n=cmd|' /C calc'!A0\n-1\n");
}

TEST_CASE("predictions: numbers are in the target's unit, with an interval where asked") {
  const std::vector<float> outputs{0, -1.5F};
  CHECK(predictions_csv(outputs, test::of_prices(), {}) == "price\n100\n85\n");
  const interval_rule rule{error_quantiles::of({2.5}), 0.5};
  CHECK(predictions_csv(outputs, test::of_prices(), {.intervals = rule})
        == "price,price_low,price_high\n100,97.5,102.5\n85,82.5,87.5\n");
}

TEST_CASE("predictions: forecasts are in the unit of their series, the interval too") {
  const std::vector<float> outputs{0, -1.5F};
  new_examples examples;
  examples.forecasts = {{"shop", "day"},
                        {{{"a", "8"}, 1, 1000, 10}, {{"b", "9"}, 2, 0, 0.5}}};
  interval_rule rule{error_quantiles::of({2, 4}), 0.5};
  rule.errors.ahead = {{1, 1, {2}}, {2, 1, {4}}};
  CHECK(predictions_csv(outputs, test::of_prices(), {.intervals = rule}, examples)
        == "shop,day,price,price_low,price_high\n"
           "a,8,2000,1980,2020\nb,9,42.5,40.5,44.5\n");
}

TEST_CASE("predictions: each of several targets has an interval of its own") {
  const preprocessing how{.task = regression,
                          .classes = {"a", "b"},
                          .target_scales = {{.mean = 10, .deviation = 2}, {}}};
  const interval_rule rule{
      error_quantiles::of_targets(std::vector<double>{0.5, 3, 0.25, 1}, 2), 0.5};
  CHECK(predictions_csv(std::vector<float>{0, 1}, how, {.intervals = rule})
        == "a,a_low,a_high,b,b_low,b_high\n10,9.5,10.5,1,-2,4\n");
  CHECK(intervals_of(rule.errors, 0.5));
  CHECK(intervals_of(rule.errors, 0.9).error().message
        == "intervals of 0.9 take more than the 2 validation examples that the network "
           "was judged by; at most 0.666 can be");
}

TEST_CASE("predictions: quantiles are named after the target, and rise") {
  const preprocessing how{.task = quantiles,
                          .target = "price",
                          .classes = {"q0.1", "q0.9"},
                          .target_scales = {{10, 2, 0.1}, {10, 2, 0.9}}};
  std::vector<float> outputs{1, 0, -1, 2};
  order_quantiles(outputs, how);
  CHECK(outputs == std::vector<float>{0, 1, -1, 2});
  CHECK(predictions_csv(outputs, how, {}) == "price_q0.1,price_q0.9\n10,12\n8,14\n");
  std::vector<float> others{1, 0};
  order_quantiles(others, {.task = regression, .classes = {"a", "b"}});
  CHECK(others == std::vector<float>{1, 0});
}

TEST_CASE("predictions: an interval takes the error of its rank") {
  const auto errors = error_quantiles::of({5, 3, 1, 4, 2, 6, 7, 8, 9});
  CHECK(errors.reach(0.9) == 9);
  CHECK(errors.reach(0.89) == 9);
  CHECK(errors.reach(0.8) == 8);
  CHECK(errors.reach(0.5) == 5);
  CHECK(errors.reach(0.001) == 1);
  CHECK(intervals_of(errors, 0.9).value().reach() == 9);
  CHECK(intervals_of(errors, 0.95).error().message
        == "intervals of 0.95 take more than the 9 validation examples that the network "
           "was judged by; at most 0.9 can be");
  CHECK_FALSE(intervals_of({}, 0.5));
}

TEST_CASE("predictions: of few kept errors the next larger one is taken") {
  CHECK(rc::check("never smaller than the exact one, and none far larger", [] {
    const auto n = *rc::gen::inRange<std::size_t>(1, 3000);
    const auto level = *rc::gen::inRange(1, 100) / 100.0;
    std::vector<double> all(n);
    for (std::size_t i = 0; i < n; ++i)
      all[i] = static_cast<double>(i + 1); // An error's rank is its value.
    const double exact = std::ceil(static_cast<double>(n + 1) * level - 1e-9);
    const auto reach = error_quantiles::of(all).reach(level);
    RC_ASSERT(reach.has_value() == (exact <= static_cast<double>(n)));
    if (reach) {
      RC_ASSERT(*reach >= exact);
      RC_ASSERT(*reach <= exact + std::ceil(static_cast<double>(n) / 500));
    }
  }));
}

// 400 keyed calibrations of 200 errors each, each tried on 50 new ones: the share within
// is the level's, from above, up to the deviation of a mean of 400.
TEST_CASE("predictions: intervals hold as many new examples as they promise") {
  for (const double level : {0.5, 0.9, 0.95}) {
    std::size_t within = 0, tried = 0;
    for (std::uint64_t run = 0; run < 400; ++run) {
      auto random = derive(11, purpose::synthetic, 0, run);
      std::vector<double> errors(200);
      for (auto& e : errors)
        e = std::abs(random.normal());
      const double reach = error_quantiles::of(errors).reach(level).value();
      for (int i = 0; i < 50; ++i, ++tried)
        within += std::abs(random.normal()) <= reach ? 1 : 0;
    }
    const double share = static_cast<double>(within) / static_cast<double>(tried);
    INFO("level " << level << ", share " << share);
    CHECK(share > level - 0.006);
    CHECK(share < level + 0.012);
  }
}
