#include "tests/engine/scheduling/schedule_fixture.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <algorithm>
#include <set>

using namespace clade;
using namespace clade::test;

namespace {

task team(candidate_id id, std::uint32_t slots) {
  return {.id = id, .work = 1, .needs = {.slots = slots, .team = true}};
}

std::vector<node_id> members(const schedule& s, candidate_id id) {
  auto all = s.members_of(id);
  std::ranges::sort(all);
  return all;
}

using nodes = std::vector<node_id>;

} // namespace

TEST_CASE("team: every member is told, on one machine if that has enough slots") {
  auto s = on_machines({2, 3});
  s.submit(team(1, 3));
  const auto out = s.hand_out(start);
  REQUIRE(out.size() == 3);
  for (const auto& o : out)
    CHECK(o.leases == out.front().leases);
  CHECK(members(s, 1) == nodes{3, 4, 5});
  s.submit(team(2, 2));
  CHECK(s.hand_out(start).size() == 2);
  CHECK(s.teams().size() == 2);
}

TEST_CASE("team: where no machine has enough slots, it is of several, and of few") {
  auto s = on_machines({1, 2, 1, 2});
  s.submit(team(1, 4));
  CHECK(s.hand_out(start).size() == 4);
  CHECK(members(s, 1) == nodes{2, 3, 5, 6});
}

TEST_CASE("team: it goes on without a member that leaves, and with the next free one") {
  auto s = on_machines({3});
  s.submit(team(1, 3));
  const auto lease = s.hand_out(start).front().leases.front();
  const auto first = s.members_of(1).front();
  s.close(first, start);
  CHECK(s.members_of(1).size() == 2);
  CHECK(s.leave(first, start).empty());
  CHECK(s.hand_out(start).empty());
  s.join(9, {.slot = "slot 9", .machine = 2}, start);
  const auto more = s.hand_out(start);
  REQUIRE(more.size() == 1);
  CHECK(more[0] == handout{.node = 9, .leases = {lease}});
  CHECK(s.teams().front().members.size() == 3);
}

TEST_CASE("team: one whose machine cannot go on leaves it, and rests for a while") {
  auto s = on_machines({3});
  s.submit(team(1, 3));
  const auto lease = s.hand_out(start).front().leases.front();
  const auto first = s.members_of(1).front();
  const auto slot = "slot " + std::to_string(first);
  CHECK_FALSE(s.decline(first, {.id = 1, .number = lease.number + 1}, start));
  CHECK_FALSE(s.decline(9, lease, start));
  REQUIRE(s.decline(first, lease, start));
  CHECK_FALSE(s.decline(first, lease, start));
  CHECK(s.members_of(1).size() == 2);
  CHECK(s.quarantined(slot, start) == start + 5s);
  CHECK(s.hand_out(start).empty());
  for (node_id n = 1; n <= 3; ++n)
    s.hear(n, start + 6s);
  const auto back = s.hand_out(start + 6s);
  REQUIRE(back.size() == 1);
  CHECK(back[0] == handout{.node = first, .leases = {lease}});
  // The next time it rests for longer, unless its team has brought a task to an end.
  REQUIRE(s.decline(first, lease, start + 6s));
  CHECK(s.quarantined(slot, start + 6s) == start + 16s);
  for (node_id n = 1; n <= 3; ++n)
    s.hear(n, start + 17s);
  CHECK(s.hand_out(start + 17s).size() == 1);
  CHECK(s.accept(s.members_of(1).front(), 1, lease.number, 1.0) == 1);
  s.submit(team(2, 3));
  const auto next = s.hand_out(start + 17s).front().leases.front();
  REQUIRE(s.decline(first, next, start + 17s));
  CHECK(s.quarantined(slot, start + 17s) == start + 22s);
}

TEST_CASE("team: a task that no machine can go on with waits until one may try again") {
  auto s = on_machines({2});
  s.submit(team(1, 2));
  const auto lease = s.hand_out(start).front().leases.front();
  REQUIRE(s.decline(1, lease, start));
  const auto lost = s.decline(2, lease, start);
  REQUIRE(lost);
  CHECK(*lost == lost_lease{.id = 1, .attempt = 1});
  CHECK(s.waiting() == 1);
  CHECK(s.leased() == 0);
  CHECK(s.hand_out(start + 1s).empty());
  for (node_id n = 1; n <= 2; ++n)
    s.hear(n, start + 6s);
  const auto again = s.hand_out(start + 6s);
  REQUIRE(again.size() == 2);
  CHECK(again[0].leases.front().attempt == 2);
}

TEST_CASE("team: any member's result counts, once") {
  auto s = on_machines({3});
  s.submit(team(1, 3));
  const auto lease = s.hand_out(start).front().leases.front();
  const auto last = s.members_of(1).back();
  CHECK(s.accept(9, 1, lease.number, 1.0) == 0);
  CHECK(s.accept(last, 1, lease.number + 1, 1.0) == 0);
  CHECK(s.accept(last, 1, lease.number, 1.0) == 1);
  CHECK(s.accept(s.members_of(1).empty() ? 1 : 2, 1, lease.number, 1.0) == 0);
  CHECK(s.busy() == 0);
  CHECK(s.teams().empty());
}

TEST_CASE("team: a silent member is left out, and may come back") {
  auto s = on_machines({2});
  s.submit(team(1, 2));
  CHECK(s.hand_out(start).size() == 2);
  const auto later = start + std::chrono::seconds(4);
  s.hear(1, later);
  CHECK(s.hand_out(later).empty());
  CHECK(members(s, 1) == nodes{1});
  s.hear(2, later);
  CHECK(s.hand_out(later).size() == 1);
  CHECK(members(s, 1) == nodes{1, 2});
}

TEST_CASE("team: its task is lost with its last member alone") {
  auto s = on_machines({2});
  s.submit(team(1, 2));
  CHECK(s.hand_out(start).size() == 2);
  CHECK(s.leave(1, start).empty());
  const auto lost = s.leave(2, start);
  REQUIRE(lost.size() == 1);
  CHECK(lost[0].id == task_id(1));
  CHECK_FALSE(lost[0].given_up);
  CHECK(s.waiting() == 1);
}

TEST_CASE("team: a task of which member after member dies is given up") {
  auto s = on_machines({3});
  s.submit(team(1, 3));
  CHECK(s.hand_out(start).size() == 3);
  CHECK(s.leave(1, start, true).empty());
  const auto lost = s.leave(2, start, true);
  REQUIRE(lost.size() == 1);
  CHECK(lost[0].given_up);
  CHECK(s.members_of(1).empty());
  CHECK(s.leased() == 0);
  CHECK(s.waiting() == 0);
}

TEST_CASE("team: the next head gives members that come back one lease") {
  auto s = on_machines({3});
  s.submit(team(1, 2));
  const auto one = s.adopt(3, 1), other = s.adopt(2, 1), third = s.adopt(1, 1);
  REQUIRE(one);
  CHECK(other == one);
  CHECK_FALSE(third);
  CHECK(members(s, 1) == nodes{2, 3});
  CHECK(s.reconcile(2, {*one}).empty());
  CHECK(s.reconcile(1, {*one}).size() == 1);
}

TEST_CASE("team: a node has one thing to do, and whatever happens no task is lost") {
  CHECK(rc::check([] {
    auto s = on_machines({2, 3});
    candidate_id next = 0;
    node_id last = 5;
    std::size_t submitted = 0, ended = 0;
    for (const auto what :
         *rc::gen::container<std::vector<int>>(60, rc::gen::inRange(0, 6))) {
      const auto teams = s.teams();
      if (what <= 1) {
        s.submit(team(++next, *rc::gen::inRange(1U, 5U)));
        ++submitted;
      } else if (what == 2 && !teams.empty()) {
        const auto& t = teams.front();
        RC_ASSERT(s.accept(t.members.back(), t.given.id, t.given.number, 1) != 0);
        ++ended;
      } else if (what == 3 && !teams.empty()) {
        std::ignore = s.leave(teams.back().members.front(), start);
        s.join(++last, {.slot = "new " + std::to_string(last), .machine = 2}, start);
      } else if (what == 4 && !teams.empty()) {
        const auto id = teams.front().members.back();
        s.close(id, start);
        s.hear(id, start);
      }
      std::ignore = s.hand_out(start);
      std::set<node_id> busy;
      for (const auto& t : s.teams()) {
        RC_ASSERT(!t.members.empty());
        for (const auto id : t.members)
          RC_ASSERT(busy.insert(id).second);
      }
      RC_ASSERT(s.leased() + s.waiting() + ended == submitted);
      RC_ASSERT(s.busy() >= busy.size());
    }
  }));
}
