#include "engine/run/steps/final_choice.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>

using namespace clade;

namespace {

evaluation a_model(double accuracy, double loss, std::uint64_t parameters = 100) {
  evaluation e;
  e.metrics = {{"validation.accuracy", accuracy}, {"validation.loss", loss}};
  e.parameters = parameters;
  return e;
}

const objective accurate{};
const objective small{.constraints = {{.metric = "parameters", .limit = 300}}};
const objective both{.others = {{.metric = "parameters", .maximize = false}}};

} // namespace

TEST_CASE(
    "final choice: one that has less of the objective is behind, whatever its loss") {
  CHECK(is_behind(a_model(0.644, 0.3), a_model(0.733, 0.9), accurate));
  CHECK_FALSE(is_behind(a_model(0.733, 0.9), a_model(0.644, 0.3), accurate));
  CHECK_FALSE(is_behind(a_model(0.7, 0.9), a_model(0.7, 0.3), accurate));
  CHECK(best_ahead(a_model(0.257, 1), {{a_model(0.353, 1), a_model(0.411, 2)}}, accurate)
        == 1);
  CHECK_FALSE(best_ahead(a_model(0.5, 1), {{a_model(0.5, 0.5)}}, accurate));
  CHECK_FALSE(best_ahead(a_model(0.5, 1), {}, accurate));
}

TEST_CASE("final choice: what few examples cannot tell is not ahead") {
  const std::vector<evaluation> singles{a_model(0.92, 0.3), a_model(0.97, 0.5),
                                        a_model(0.95, 0.4)};
  const auto with_errors = [&](std::vector<double> errors, const objective& goal) {
    return best_ahead(a_model(0.90, 0.2, 200), singles, goal,
                      [errors](std::size_t i) { return errors[i]; });
  };
  CHECK(with_errors({0, 0, 0}, accurate) == 1);
  CHECK(with_errors({0.1, 0.1, 0.1}, accurate) == std::nullopt);
  // Only a difference of more than two standard errors is one.
  CHECK(with_errors({0.1, 0.036, 0.1}, accurate) == std::nullopt);
  CHECK(with_errors({0.1, 0.034, 0.1}, accurate) == 1);
  CHECK(with_errors({0.1, 0.1, 0.02}, accurate) == 2);
  // A constraint is no question of errors, nor is what costs less.
  const objective smaller{.constraints = {{.metric = "parameters", .limit = 150}}};
  CHECK(with_errors({1, 1, 1}, smaller) == 1);
  CHECK(best_ahead(a_model(0.9, 0.1, 200), {{a_model(0.9, 0.1, 100)}}, both,
                   [](std::size_t) { return 1.0; })
        == 0);
}

TEST_CASE("final choice: constraints bind the final model before all else") {
  CHECK(is_behind(a_model(0.9, 0.1, 3694), a_model(0.6, 1, 78), small));
  // The one that misses them by less is ahead of the other.
  CHECK(is_behind(a_model(0.9, 0.1, 900), a_model(0.6, 1, 400), small));
  CHECK_FALSE(is_behind(a_model(0.9, 0.1, 300), a_model(0.6, 1, 78), small));
}

TEST_CASE(
    "final choice: with several aims one is behind what has as much of all, and more") {
  CHECK(is_behind(a_model(0.9, 0.1, 200), a_model(0.9, 0.1, 100), both));
  CHECK(is_behind(a_model(0.8, 0.1, 50), a_model(0.9, 0.1, 100), both));
  CHECK_FALSE(is_behind(a_model(0.9, 0.1, 900), a_model(0.8, 0.1, 100), both));
}

TEST_CASE("final choice: what was not measured does not count") {
  const objective slow{.metric = "train.accuracy",
                       .others = {{.metric = "validation.accuracy"}},
                       .constraints = {{.metric = "latency_ms", .limit = 2}}};
  const auto part = measurable_part(slow, a_model(0.9, 0.1));
  CHECK(part.metric == "validation.accuracy");
  CHECK(part.others.empty());
  CHECK(part.constraints.empty());
  CHECK(measurable_part({.metric = "train.accuracy"}, a_model(0.9, 0.1)).metric
        == "validation.loss");
  CHECK(measurable_part(both, a_model(0.9, 0.1)) == both);
  CHECK_FALSE(best_model({{evaluation{}}}, accurate));
}

TEST_CASE("final choice: of any models, the best is behind none") {
  std::mt19937_64 draw(1);
  const auto some = [&] { return static_cast<double>(draw() % 4) / 4; };
  for (int trial = 0; trial < 2000; ++trial)
    for (const auto& goal : {accurate, small, both}) {
      std::vector<evaluation> models(1 + draw() % 6);
      for (auto& m : models)
        m = a_model(some(), some(), 100 + 100 * (draw() % 4));
      const auto best = best_model(models, goal);
      REQUIRE(best);
      CHECK_FALSE(best_ahead(models[*best], models, goal));
      for (const auto& m : models)
        CHECK_FALSE(is_behind(m, m, goal));
    }
}
