// The fate of tasks whose node is lost, and who is to blame.

#include "tests/engine/scheduling/schedule_fixture.hpp"

#include <catch2/catch.hpp>

using namespace clade;
using namespace clade::test;

TEST_CASE("schedule: a candidate is handed out again when its node is lost") {
  auto s = with_nodes(2);
  s.submit({.id = 1, .work = double(1)});
  const auto first = s.hand_out(start).at(0);
  CHECK(s.leave(first.node, start)
        == std::vector<lost_lease>{{.id = 1, .attempt = 1, .given_up = false}});
  const auto second = s.hand_out(start).at(0);
  CHECK(second.node != first.node);
  CHECK(second.leases[0].attempt == 2);
  CHECK(s.accept(second.node, 1, second.leases[0].number, 1.0) == 2);
}

TEST_CASE("schedule: a candidate that two node processes died of is given up") {
  auto s = with_nodes(3);
  s.submit({.id = 1, .work = double(1)});
  CHECK_FALSE(s.leave(s.hand_out(start).at(0).node, start, true).at(0).given_up);
  CHECK(s.leave(s.hand_out(start).at(0).node, start, true).at(0).given_up);
  CHECK(s.hand_out(start).empty());
  CHECK(s.waiting() == 0);
}

TEST_CASE("schedule: a candidate is not blamed for losses without evidence") {
  schedule s({.quarantine = {.failures = 1000}});
  s.submit({.id = 1, .work = double(1)});
  for (node_id node = 1; node <= 100; ++node) {
    s.join(node, {.slot = "cpu:" + std::to_string(node % 2)}, start);
    CHECK_FALSE(s.leave(s.hand_out(start).at(0).node, start).at(0).given_up);
  }
  CHECK(s.waiting() == 1);
}

TEST_CASE("schedule: evidence that comes late counts like one that comes in time") {
  auto s = with_nodes(4);
  s.submit({.id = 1, .work = double(1)});
  const auto first = s.hand_out(start).at(0).node;
  REQUIRE(s.leave(first, start).size() == 1);
  CHECK_FALSE(s.convict(first)); // The first death.
  CHECK_FALSE(s.convict(first)); // The same.
  const auto second = s.hand_out(start).at(0).node;
  REQUIRE(s.leave(second, start).size() == 1);
  CHECK(s.convict(second) == lost_lease{.id = 1, .attempt = 2, .given_up = true});
  CHECK(s.waiting() == 0);
}

TEST_CASE("schedule: late evidence against what is in training again lets it go on") {
  auto s = with_nodes(4);
  s.submit({.id = 1, .work = double(1)});
  const auto first = s.hand_out(start).at(0).node;
  REQUIRE(s.leave(first, start).size() == 1);
  const auto second = s.hand_out(start).at(0).node;
  CHECK_FALSE(s.convict(first));
  REQUIRE(s.leave(second, start).size() == 1);
  const auto third = s.hand_out(start).at(0);
  CHECK_FALSE(s.convict(second));
  SECTION("and its result counts") {
    CHECK(s.accept(third.node, 1, third.leases.at(0).number, 1.0) == 3);
    CHECK_FALSE(s.convict(third.node));
  }
  SECTION("until it takes that process along too") {
    CHECK(s.leave(third.node, start, true).at(0).given_up);
  }
}

TEST_CASE("schedule: of several candidates lost together none is blamed and each goes on "
          "alone") {
  auto s = with_nodes(2, {.max_batch = 4});
  for (candidate_id id = 1; id <= 9; ++id)
    s.submit({.id = id, .work = double(0)});
  for (const auto& out : s.hand_out(start))
    REQUIRE(s.accept(out.node, out.leases[0].id, out.leases[0].number, 1e-6) == 1);
  REQUIRE(s.hand_out(start).size() >= 2);
  const auto lost = s.leave(1, start);
  REQUIRE(lost.size() > 1);
  CHECK(std::ranges::none_of(lost, &lost_lease::given_up));
  s.join(7, {.slot = "cpu:7"}, start);
  const auto again = s.hand_out(start);
  REQUIRE_FALSE(again.empty());
  for (const auto& out : again)
    if (out.node == 7)
      CHECK(out.leases.size() == 1);
}

TEST_CASE("schedule: a lost candidate goes to another slot than the one that lost it") {
  schedule s;
  s.join(1, {.slot = "a"}, start);
  s.submit({.id = 1});
  REQUIRE(s.hand_out(start).size() == 1);
  REQUIRE(s.leave(1, start).size() == 1);
  s.join(2, {.slot = "a"}, start);
  s.join(3, {.slot = "b"}, start);
  const auto again = s.hand_out(start);
  REQUIRE(again.size() == 1);
  CHECK(again[0].node == 3);
}

TEST_CASE("schedule: where there is no other slot it goes to the same again") {
  schedule s;
  s.join(1, {.slot = "a"}, start);
  s.submit({.id = 1});
  REQUIRE(s.hand_out(start).size() == 1);
  REQUIRE(s.leave(1, start).size() == 1);
  s.join(2, {.slot = "a"}, start);
  CHECK(s.hand_out(start).at(0).node == 2);
}

TEST_CASE("schedule: three different candidates lost in a row are the slot's fault") {
  schedule s({.quarantine = {.failures = 3, .first = 5s}});
  for (candidate_id id = 1; id <= 4; ++id)
    s.submit({.id = id, .work = double(10 - id)});
  s.join(9, {.slot = "good"}, start);
  REQUIRE(ids(s.hand_out(start).at(0)) == std::vector<candidate_id>{1});
  for (node_id node = 1; node <= 3; ++node) {
    s.join(node, {.slot = "bad"}, start);
    REQUIRE(s.hand_out(start).at(0).node == node);
    REQUIRE(s.leave(node, start).size() == 1);
  }
  CHECK(s.quarantined("bad", start) == start + 5s);
  s.join(4, {.slot = "bad"}, start);
  CHECK(s.hand_out(start).empty());
  s.hear(4, start + 6s);
  CHECK_FALSE(s.quarantined("bad", start + 6s));
  // Tasks that it lost go elsewhere as long as there is an elsewhere.
  s.close(9, start + 6s);
  CHECK(s.hand_out(start + 6s).at(0).node == 4);
}

TEST_CASE("schedule: a test that two node processes died of is given up") {
  auto s = with_nodes(3);
  s.submit({.id = {1, task_type::test}, .alone = true});
  CHECK_FALSE(s.leave(s.hand_out(start).at(0).node, start, true).at(0).given_up);
  const auto lost = s.leave(s.hand_out(start).at(0).node, start, true).at(0);
  CHECK(lost.given_up);
  CHECK(to_text(lost.id) == "the test of #1");
  CHECK(to_text(task_id{0, task_type::test}) == "the test of the linear model");
}

TEST_CASE(
    "schedule: a slot that loses the same candidate again and again is quarantined") {
  schedule s({.quarantine = {.failures = 3, .first = 5s}});
  s.submit({.id = 1});
  for (node_id node = 1; node <= 3; ++node) {
    s.join(node, {.slot = "a"}, start);
    CHECK_FALSE(s.quarantined("a", start));
    REQUIRE(s.hand_out(start).size() == 1);
    REQUIRE(s.leave(node, start).size() == 1);
  }
  CHECK(s.quarantined("a", start) == start + 5s);
}
