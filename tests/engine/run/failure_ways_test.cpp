#include "engine/run/state/failure_ways.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

evaluation failed(outcome how, std::string reason) {
  return {.id = 1, .outcome = how, .reason = std::move(reason)};
}

failure_ways so_many(int n, outcome how) {
  failure_ways ways;
  for (int i = 0; i < n; ++i)
    ways.add(failed(how, "in epoch " + std::to_string(i)));
  return ways;
}

} // namespace

TEST_CASE("failure ways: reasons that differ in numbers alone are one way") {
  const auto ways = so_many(3, outcome::diverged);
  CHECK(ways.text() == "all 3 failed alike: diverged: in epoch 0");
  CHECK(so_many(1, outcome::crashed).text() == "one failed: crashed: in epoch 0");
  CHECK(failure_ways{}.text().empty());
}

TEST_CASE("failure ways: the way of most is told, with how many failed in all") {
  failure_ways ways;
  ways.add(failed(outcome::crashed, "a"));
  ways.add(failed(outcome::timed_out, "b"));
  ways.add(failed(outcome::timed_out, "b"));
  CHECK(ways.text() == "2 of 3 failed so: timed out: b");
}

TEST_CASE("failure ways: one success makes them forget all, and a drop is no failure") {
  auto ways = so_many(3, outcome::crashed);
  ways.add(failed(outcome::dropped, "by ada"));
  CHECK(ways.all() == 3);
  ways.add({.id = 1});
  CHECK(ways.all() == 0);
  CHECK(ways.text().empty());
}

TEST_CASE("failure ways: what genomes decide takes more failures to be hopeless") {
  CHECK_FALSE(so_many(9, outcome::crashed).hopeless());
  CHECK(so_many(10, outcome::crashed).hopeless());
  CHECK(so_many(10, outcome::invalid).hopeless());
  CHECK_FALSE(so_many(29, outcome::diverged).hopeless());
  CHECK(so_many(30, outcome::diverged).hopeless());
  auto ways = so_many(30, outcome::crashed);
  ways.add(failed(outcome::crashed, "otherwise"));
  CHECK_FALSE(ways.hopeless());
}
