#include "engine/search/core/candidate.hpp"
#include "tests/engine/search/toy_world.hpp"

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
  c.changes = {{.after = "widen n3f2a1"}};
  c.equal_to = 4;
  CHECK(to_text(c) == "#12 generation 2 from #3 #1: widen n3f2a1 (equal to #4)");
  CHECK(to_text(a_failure(7)) == "#7: crashed, killed by signal 11");
  CHECK(to_text(copy_for(7, a_success(2, 0.5)))
        == "#7: succeeded, validation.accuracy=0.5, copied from #2");
  CHECK(std::string(to_text(outcome::dropped)) == "dropped");
  CHECK(std::string(to_text(static_cast<outcome>(99))) == "unknown");
}

TEST_CASE("candidate: several objectives are all raised, and all must be there") {
  const objective both{.others = {{"parameters", false}, {"latency_ms", false}}};
  auto e = a_success(1, 0.9);
  e.parameters = 500;
  CHECK_FALSE(fitness_of(e, both).ok);
  e.metrics.push_back({"latency_ms", 2.5});
  const auto f = fitness_of(e, both);
  CHECK(f.ok);
  CHECK(f.primary == 0.9);
  CHECK(f.objectives == std::vector<double>{0.9, -500, -2.5});
  e.metrics.back().value = std::numeric_limits<double>::quiet_NaN();
  CHECK(fitness_of(e, both) == fitness{});
}

TEST_CASE("candidate: constraints are missed by a share of their limits") {
  const objective held{
      .constraints = {{.metric = "parameters", .limit = 200},
                      {.metric = "validation.accuracy", .limit = 0.8, .at_most = false}}};
  const auto violation = [&](double accuracy, std::uint64_t parameters) {
    auto e = a_success(1, accuracy);
    e.parameters = parameters;
    const auto f = fitness_of(e, held);
    CHECK(f.ok);
    CHECK(f.objectives.empty());
    return f.violation;
  };
  CHECK(violation(0.8, 200) == 0);
  CHECK(violation(0.9, 300) == Approx(0.5));
  CHECK(violation(0.6, 300) == Approx(0.75));
  const objective tiny{.constraints = {{.metric = "parameters", .limit = 1e-300}}};
  auto e = a_success(1, 0.5);
  e.parameters = 1'000'000;
  CHECK(std::isfinite(fitness_of(e, tiny).violation));
}

TEST_CASE("candidate: the feasible are fitter, and then those that miss by less") {
  const auto one = [](candidate_id id, double primary, double violation) {
    auto i = an_individual(id, primary);
    i.fitness.violation = violation;
    return i;
  };
  std::vector<individual> all{one(1, 9, 0.5), one(2, 1, 0), a_failed_individual(3),
                              one(4, 5, 0.1), one(5, 2, 0), one(6, 6, 0.1)};
  std::sort(all.begin(), all.end(), fitter);
  CHECK(to_text(all) == "#5=2.0 #2=1.0 #6=6.0 #4=5.0 #1=9.0 #3=failed");
}

TEST_CASE("candidate: epochs are told apart by what is measured at each of them") {
  const objective costly{.metric = "parameters",
                         .maximize = false,
                         .others = {{"validation.accuracy", true}},
                         .constraints = {{"parameters", 10}}};
  CHECK(of_epochs(costly) == objective{.metric = "validation.accuracy"});
  CHECK(of_epochs({.metric = "latency_ms", .maximize = false})
        == objective{.metric = "validation.loss", .maximize = false});
  CHECK(to_text(costly)
        == "parameters lowered, validation.accuracy raised, parameters at most 10.0");
}
