#include "tests/support/small_run.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

constexpr std::uint64_t seeds = 20;

/// The champion's fitness after 240 candidates, in the mean over seeds.
double mean_champion(const std::string& strategy) {
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    run_rules rules;
    rules.evolution.strategy = strategy;
    rules.seed = seed;
    sum += simulate(small_run(rules)).state.best.front().fitness.primary;
  }
  return sum / seeds;
}

} // namespace

TEST_CASE("synthetic: evolution climbs higher than random search") {
  const auto random = mean_champion("random");
  const auto generational = mean_champion("generational");
  const auto regularised = mean_champion("regularized");
  CAPTURE(random, generational, regularised);
  CHECK(generational > random + 0.02);
  CHECK(regularised > random + 0.02);
}
