#include "engine/evolution/candidate.hpp"
#include "tests/engine/evolution/toy_world.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

using namespace clade;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

evaluation with(std::vector<metric> metrics) {
  evaluation e;
  e.id = 1;
  e.metrics = std::move(metrics);
  return e;
}

} // namespace

TEST_CASE("candidate: fitness is the metric and its loss breaks ties") {
  const auto e = with({{"validation.accuracy", 0.9}, {"validation.loss", 0.3}});
  CHECK(fitness_of(e, {}) == fitness{true, 0.9, -0.3});
  CHECK(fitness_of(e, {.metric = "validation.loss", .maximize = false})
        == fitness{true, -0.3, -0.3});
}

TEST_CASE("candidate: fitness is never NaN") {
  for (const auto bad : {not_a_number, infinity, -infinity}) {
    CHECK(fitness_of(with({{"validation.accuracy", bad}}), {}) == fitness{});
    const auto tied =
        fitness_of(with({{"validation.accuracy", 1}, {"validation.loss", bad}}), {});
    CHECK(tied == fitness{true, 1, -infinity});
  }
}

TEST_CASE("candidate: without the metric or with a failure fitness is not ok") {
  CHECK_FALSE(fitness_of(with({{"validation.loss", 1}}), {}).ok);
  auto failed = with({{"validation.accuracy", 0.9}});
  failed.outcome = outcome::timed_out;
  CHECK(fitness_of(failed, {}) == fitness{});
}

TEST_CASE("candidate: a copy takes over what was decided and not what was observed") {
  auto original = with({{"validation.accuracy", 0.9}});
  original.parameters = 5;
  original.weights_hash = 6;
  original.curve = {{1, {}, 2.0}};
  original.seconds = 3;
  original.slot = "node1/cpu:0";
  const auto copy = copy_for(9, original);
  CHECK(copy.id == 9);
  CHECK(copy.equal_to == 1);
  CHECK(copy.metrics == original.metrics);
  CHECK(copy.parameters == 5);
  CHECK(copy.weights_hash == 6);
  CHECK(copy.curve.empty());
  CHECK(copy.seconds == 0);
  CHECK(copy.slot.empty());
  CHECK(copy_for(9, a_failure(2)).outcome == outcome::crashed);
  CHECK(copy_for(9, a_failure(2)).reason == "killed by signal 11");
}

TEST_CASE("candidate: texts say what a person asks for") {
  auto c = a_candidate(12, 3);
  CHECK(to_text(c) == "#12 generation 0: random");
  c.generation = 2;
  c.parents = {3, 1};
  c.origin = "widen n3f2a1";
  c.equal_to = 4;
  CHECK(to_text(c) == "#12 generation 2 from #3 #1: widen n3f2a1 (equal to #4)");
  CHECK(to_text(a_failure(7)) == "#7: crashed, killed by signal 11");
  CHECK(to_text(copy_for(7, a_success(2, 0.5)))
        == "#7: succeeded, validation.accuracy=0.5, copied from #2");
  CHECK(std::string(to_text(outcome::dropped)) == "dropped");
  CHECK(std::string(to_text(static_cast<outcome>(99))) == "unknown");
}
