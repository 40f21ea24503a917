#include "engine/telemetry/picture/stragglers.hpp"

#include <catch2/catch.hpp>

using namespace clade;
using namespace std::chrono_literals;

namespace {

/// Two members of a team, the second of whom is awaited.
slots_view a_slow_team(bool slow) {
  slots_view v;
  for (const auto* name : {"cpu:0", "cpu:1"})
    v.slots.push_back({.name = name, .ready = true, .training = 7});
  v.slots[0].team = {.member = 1, .members = 2};
  v.slots[1].team = {.member = 2, .members = 2, .awaited = slow};
  return v;
}

} // namespace

TEST_CASE("stragglers: for whom the others wait is said, less and less often, and kept") {
  straggler_watch watch;
  std::vector<int> said_at;
  for (int second = 1; second <= 45; ++second)
    for (const auto& sentence : watch.look(a_slow_team(true), 1s)) {
      CHECK(sentence.find("#7: the others wait for cpu:1") == 0);
      said_at.push_back(second);
    }
  CHECK(said_at == std::vector{10, 20, 40});
  static_cast<void>(watch.look(a_slow_team(false), 5s));
  const auto seen = watch.end(7);
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].slot == "cpu:1");
  CHECK(seen[0].waited_ms == 45'000);
  CHECK(seen[0].of_ms == 50'000);
  CHECK(watch.end(7).empty());
}

TEST_CASE("stragglers: a moment is not recorded") {
  straggler_watch watch;
  static_cast<void>(watch.look(a_slow_team(true), 1s));
  for (int i = 0; i < 30; ++i)
    CHECK(watch.look(a_slow_team(false), 1s).empty());
  CHECK(watch.end(7).empty());
}
