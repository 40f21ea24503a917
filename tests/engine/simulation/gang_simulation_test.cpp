#include "engine/simulation/gang_simulation.hpp"

#include <catch2/catch.hpp>

using namespace clade;

TEST_CASE(
    "gang simulation: slots are busy, no gang starves, and one slot waits for none") {
  const auto mixed = simulate_gangs(
      {.slots = 100, .slots_of_machine = 16, .tasks = 1000, .largest = 16});
  CHECK(mixed.busy > 0.9);
  CHECK(mixed.busy <= 1);
  CHECK(mixed.waited > 0);
  CHECK(mixed.longest_wait < 2);
  const auto single =
      simulate_gangs({.slots = 10, .slots_of_machine = 4, .tasks = 200, .largest = 1});
  CHECK(single.busy > 0.99);
  CHECK(single.waited == 0);
}
