#include "tools/run/run_files.hpp"

#include <catch2/catch.hpp>

using namespace clade;
using namespace std::chrono_literals;

TEST_CASE("slot watch: it is said, once, that slots rest because a training needs more") {
  slot_watch watch("none.log", 2, " of one machine");
  const std::chrono::steady_clock::time_point start{};
  slots_view slots{.slots = {{.name = "a", .ready = true}}, .failures = {}, .waiting = 1};
  CHECK_FALSE(watch.look(slots, 0, start));
  CHECK_FALSE(watch.look(slots, 0, start + 19s));
  const auto said = watch.look(slots, 0, start + 21s);
  REQUIRE(said);
  CHECK(said->find("training.devices = 2 needs 2 slots of one machine")
        != std::string::npos);
  CHECK_FALSE(watch.look(slots, 0, start + 60s));
  slots.slots.front().training = 7;
  CHECK_FALSE(watch.look(slots, 0, start + 61s));
  slots.slots.front().training = 0;
  slots.waiting = 0; // Nothing is to be done.
  CHECK_FALSE(watch.look(slots, 0, start + 62s));
  CHECK_FALSE(watch.look(slots, 0, start + 100s));
  slots.slots.clear();
  CHECK_FALSE(watch.look(slots, 0, start + 101s));
  CHECK(watch.look(slots, 0, start + 130s)->find("no slot has joined") == 0);
}

TEST_CASE("slot watch: where trainings need different numbers of slots, it says so") {
  slot_watch watch("none.log", 0);
  const std::chrono::steady_clock::time_point start{};
  const slots_view slots{
      .slots = {{.name = "a", .ready = true}}, .failures = {}, .waiting = 1};
  CHECK_FALSE(watch.look(slots, 0, start));
  CHECK_THAT(*watch.look(slots, 0, start + 21s), Catch::Contains("devices = \"fit\""));
}

TEST_CASE("slot watch: of slots in quarantine it says so, and what failed on them") {
  slot_watch watch("none.log", 3);
  const std::chrono::steady_clock::time_point start{};
  slots_view slots{.slots = {{.name = "a", .ready = true, .quarantined = 30s},
                             {.name = "b", .ready = true, .quarantined = 90s},
                             {.name = "c", .ready = true}},
                   .failures = {{.slot = "b", .count = 2, .last = "#1: no space"}},
                   .waiting = 1};
  CHECK_FALSE(watch.look(slots, 0, start));
  const auto said = watch.look(slots, 0, start + 21s);
  REQUIRE(said);
  CHECK_THAT(*said, Catch::Contains("2 of 3 slots are in quarantine")
                        && Catch::EndsWith("on b failed #1: no space"));
  CHECK_THAT(*said, !Catch::Contains("training.devices"));
}

TEST_CASE(
    "slot watch: one slot that is given nothing is noticed, unless a person holds it") {
  slot_watch watch("none.log");
  const std::chrono::steady_clock::time_point start{};
  slots_view slots{.slots = {{.name = "a", .ready = true, .quarantined = 30s}},
                   .failures = {},
                   .waiting = 1};
  slots.held = true;
  CHECK_FALSE(watch.look(slots, 0, start));
  CHECK_FALSE(watch.look(slots, 0, start + 60s));
  slots.held = false;
  CHECK_FALSE(watch.look(slots, 0, start + 61s));
  CHECK(watch.look(slots, 0, start + 90s));
}

TEST_CASE("slot watch: what fails again and again is said, less and less often") {
  slot_watch watch("none.log", 2);
  const std::chrono::steady_clock::time_point start{};
  slots_view slots{.slots = {{.name = "a", .ready = true, .training = 1}},
                   .failures = {{.slot = "a", .count = 0, .last = "#1: no space"}},
                   .waiting = 1};
  std::vector<std::uint64_t> said;
  for (std::uint64_t failed = 1; failed <= 20; ++failed) {
    slots.failures[0].count = failed;
    if (watch.look(slots, 0, start))
      said.push_back(failed);
  }
  CHECK(said == std::vector<std::uint64_t>{3, 6, 12});
  // Something ended: what failed before that is forgotten.
  slots.failures[0].count = 22;
  CHECK_FALSE(watch.look(slots, 1, start));
  slots.failures[0].count = 24;
  CHECK_FALSE(watch.look(slots, 1, start));
  slots.failures[0].count = 25;
  CHECK_THAT(*watch.look(slots, 1, start),
             Catch::Contains("3 times since anything ended"));
}
