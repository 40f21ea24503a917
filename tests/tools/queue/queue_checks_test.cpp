#include "tools/queue/head/queue_checks.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

ordered_json a_queue(ordered_json machines) {
  return {{"version", "0.1.0"},
          {"slots", ordered_json::array({{{"slot", "cpu:0"}}})},
          {"machines", std::move(machines)}};
}

ordered_json a_machine(const char* state) {
  return {{"machine", "rome"},  {"state", state},  {"slots", 2},
          {"version", "0.1.0"}, {"heard_ms", 200}, {"clock_ahead_ms", 0}};
}

finding judged(const ordered_json& machine) {
  const auto all = judge_queue(a_queue(ordered_json::array({machine})), "0.1.0");
  REQUIRE(all.size() == 2);
  CHECK(all[0] == finding{"slots", health::good, "the queue has 1"});
  return all[1];
}

} // namespace

TEST_CASE("queue checks: a machine that is there is well") {
  CHECK(judged(a_machine("there"))
        == finding{"machine rome", health::good, "2 slots, heard 0.2 s ago"});
  CHECK(judged(a_machine("leaves")).is == health::good);
}

TEST_CASE("queue checks: what is wrong with a machine is said with advice") {
  CHECK(judged(a_machine("lost")).is == health::broken);
  CHECK(judged(a_machine("awaited")).is == health::poor);
  auto ahead = a_machine("there");
  ahead["clock_ahead_ms"] = -3000;
  CHECK(judged(ahead).is == health::poor);
  CHECK_THAT(judged(ahead).found, Catch::Contains("3.0 s behind"));
  auto other = a_machine("there");
  other["version"] = "9.9";
  CHECK_THAT(judged(other).found, Catch::Contains("9.9"));
  for (const auto& f : {judged(a_machine("lost")), judged(ahead), judged(other)})
    CHECK_FALSE(f.advice.empty());
}

TEST_CASE("queue checks: a queue without slots, or of another version, is told") {
  auto none = a_queue(ordered_json::array());
  none["slots"] = ordered_json::array();
  const auto all = judge_queue(none, "9.9");
  REQUIRE(all.size() == 2);
  CHECK(all[0].is == health::poor);
  CHECK(all[1].is == health::broken);
}
