#include "engine/run/state/learning_speed.hpp"
#include "engine/run/steps/next_step.hpp"
#include "tests/engine/search/toy_world.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace clade;

namespace {

const objective accuracy{.metric = "validation.accuracy"};
const objective loss{.metric = "validation.loss", .maximize = false};

double exponent_of(const evaluation& e, const objective& goal = accuracy) {
  return speed_of(e, goal, /*seed=*/false).exponent;
}

/// A training whose epochs take two seconds each.
evaluation with_curve(const std::vector<double>& accuracies) {
  evaluation e;
  for (const auto a : accuracies)
    e.curve.push_back({static_cast<std::uint32_t>(e.curve.size() + 1),
                       {{"validation.accuracy", a}},
                       2});
  return e;
}

} // namespace

TEST_CASE("learning speed: the exponent is that of the curve") {
  CHECK(exponent_of(with_curve({0.2, 0.4})) == usual_learning_exponent);
  CHECK(exponent_of(with_curve({0.2, 0.4, 0.1, 0.6})) == Approx(0.3 * std::sqrt(0.75)));
  CHECK(exponent_of(with_curve({0.2, 0.4, 0.1, 0.4}))
        == Approx(std::log(0.8 / 0.6) / std::log(4.0)));
  const auto flat = with_curve({0.5, 0.5, 0.5, 0.5});
  CHECK(exponent_of(flat) == 0);
  CHECK(exponent_of(flat, loss) == 0);
}

TEST_CASE("learning speed: the error falls by the exponent, and never rises") {
  const learning_speed speed{.seconds = 10, .error = 0.64, .exponent = 0.25};
  CHECK(*expected_error(speed, 160) == Approx(0.32));
  CHECK(*expected_error(speed, 5) == 0.64);
  CHECK_FALSE(expected_error({.seconds = 10}, 160));
}

TEST_CASE("learning speed: seeds are expected to learn faster until their curves tell") {
  const auto seed = speed_of(with_curve({0.2, 0.4}), accuracy, true);
  CHECK(seed.proven);
  CHECK(seed.exponent == proven_learning_exponent);
  const auto known = speed_of(with_curve({0.2, 0.4, 0.1, 0.4}), accuracy, true);
  CHECK_FALSE(known.proven);
  CHECK(known.exponent == exponent_of(with_curve({0.2, 0.4, 0.1, 0.4})));
  const auto other = speed_of(with_curve({0.2, 0.4}), accuracy, false);
  CHECK_FALSE(other.proven);
  CHECK(other.exponent == usual_learning_exponent);
}

TEST_CASE("learning speed: the fold knows seeds by how they were made") {
  auto state = make_run_state(toy_rules("generational")).value();
  const toy_world world;
  REQUIRE(apply(state, run_started{.version = "0", .seed = 1}));
  const auto orders = next_step(state).breed;
  for (std::size_t i = 0; i < 2; ++i) {
    auto c = world.breed(1, orders[i]);
    if (i == 0)
      c.changes = {{.kind = change_kind::seeded}};
    REQUIRE(apply(state, candidate_born{c}));
    REQUIRE(apply(
        state, candidate_evaluated{a_success(c.id, 0.5 + 0.1 * static_cast<double>(i))}));
  }
  REQUIRE(state.best.size() == 2);
  CHECK_FALSE(state.best[0].learning.proven);
  CHECK(state.best[1].learning.proven);
}

TEST_CASE("learning speed: an error is the distance to the best there can be") {
  evaluation e;
  e.metrics = {
      {"validation.accuracy", 0.75}, {"validation.r2", -3}, {"validation.rmse", 8}};
  const auto error = [&](const objective& goal) {
    return speed_of(e, goal, false).error;
  };
  CHECK(error(accuracy) == 0.25);
  CHECK(error({.metric = "validation.rmse", .maximize = false}) == 8.0);
  CHECK(error({.metric = "validation.r2"}) == 4.0);
  CHECK_FALSE(error({.metric = "validation.rmse"}));
  CHECK_FALSE(error({.metric = "validation.loss"}));
}
