#include "tools/run/run_files.hpp"

#include <catch2/catch.hpp>

using namespace clade;
using namespace std::chrono_literals;

TEST_CASE("slot watch: it is said, once, that slots rest because a training needs more") {
  slot_watch watch("none.log", 2, " of one machine");
  const std::chrono::steady_clock::time_point start{};
  slots_view slots{.slots = {{.name = "a", .ready = true}}, .failures = {}, .waiting = 1};
  CHECK_FALSE(watch.look(slots, start));
  CHECK_FALSE(watch.look(slots, start + 19s));
  const auto said = watch.look(slots, start + 21s);
  REQUIRE(said);
  CHECK(said->find("training.devices = 2 needs 2 slots of one machine")
        != std::string::npos);
  CHECK_FALSE(watch.look(slots, start + 60s));
  slots.slots.front().training = 7;
  CHECK_FALSE(watch.look(slots, start + 61s));
  slots.slots.front().training = 0;
  slots.waiting = 0; // Nothing is to be done.
  CHECK_FALSE(watch.look(slots, start + 62s));
  CHECK_FALSE(watch.look(slots, start + 100s));
  slots.slots.clear();
  CHECK_FALSE(watch.look(slots, start + 101s));
  CHECK(watch.look(slots, start + 130s)->find("no slot has joined") == 0);
}

TEST_CASE("slot watch: where trainings need different numbers of slots, it says so") {
  slot_watch watch("none.log", 0);
  const std::chrono::steady_clock::time_point start{};
  const slots_view slots{
      .slots = {{.name = "a", .ready = true}}, .failures = {}, .waiting = 1};
  CHECK_FALSE(watch.look(slots, start));
  CHECK_THAT(*watch.look(slots, start + 21s), Catch::Contains("devices = \"fit\""));
}
