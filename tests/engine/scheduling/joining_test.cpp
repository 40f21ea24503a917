#include "engine/scheduling/joining.hpp"
#include "tests/engine/scheduling/schedule_fixture.hpp"

#include <catch2/catch.hpp>

using namespace clade;
using namespace clade::test;

namespace {

formed_team team_of(std::vector<node_id> members) {
  return {.given = {.id = 1, .number = 5}, .slots = 3, .members = std::move(members)};
}

} // namespace

TEST_CASE("joining: a name tells the kind of device, whatever its worker is called") {
  for (const auto* gpu :
       {"cuda:0", "cuda:1", "cuda:1/0", "box/cuda:1", "rome/cuda:1", "rome/cuda:1/0"})
    CHECK(device_kind_of(gpu) == "cuda");
  for (const auto* cpu :
       {"cpu", "cpu:0", "rome/cpu:12", "cuda/cpu:0", "my-cuda-box/cpu:0"})
    CHECK(device_kind_of(cpu) == "cpu");
}

TEST_CASE("joining: with portable arithmetic slots that round otherwise may not join") {
  const rounding_slot first{"cpu:0", 4}, same{"cpu:1", 4}, other{"box/cpu:0", 5},
      unknown{"cpu:2", 0};
  CHECK(why_unfit(same, first, {.portable = true}).empty());
  CHECK(why_unfit(unknown, first, {.portable = true}).empty());
  CHECK(why_unfit(other, {}, {.portable = true}).empty());
  CHECK(why_unfit(other, first, {}).empty());
  CHECK(why_unfit(other, first, {.portable = true})
        == "training.arithmetic = \"portable\" wants equal bits of all slots, and it "
           "rounds otherwise than cpu:0");
}

TEST_CASE("joining: slots that share a training are of one kind of device") {
  const rounding_slot first{"cuda:0", 0}, cuda{"box/cuda:3", 0}, cpu{"cpu:0", 0};
  CHECK(why_unfit(cuda, first, {.by_team = true}).empty());
  CHECK(why_unfit({"cuda:1/0", 0}, first, {.by_team = true}).empty());
  CHECK(why_unfit(cpu, {}, {.by_team = true}).empty());
  CHECK(why_unfit(cpu, first, {}).empty());
  CHECK(why_unfit(cpu, first, {.by_team = true})
        == "slots that share a training are of one kind of device, and cuda:0 is of "
           "another");
}

TEST_CASE("joining: heartbeats are four a lease, within bounds") {
  CHECK(heartbeat_for(2s) == 500ms);
  CHECK(heartbeat_for(30s) == 1s);
  CHECK(heartbeat_for(0s) == 100ms);
}

TEST_CASE("joining: a clock that a node does not tell is taken for right") {
  CHECK(clock_ahead(0, 5'000) == 0ms);
  CHECK(clock_ahead(7'000, 5'000) == 2s);
  CHECK(clock_ahead(4'000, 5'000) == -1s);
  CHECK(clock_ahead(~std::uint64_t{0}, 0).count() == std::int64_t{1} << 53);
}

TEST_CASE("joining: a node that is back keeps what it has under the leases that hold") {
  auto s = with_nodes(1);
  s.submit({.id = 1, .alone = true});
  const auto given = s.hand_out(start).at(0).leases.at(0);
  CHECK(leases_kept(s, 1, {given}, true) == std::vector<lease>{given});
  // It names another lease: the one that the head knows ends, and the task is the node's
  // again.
  const auto kept = leases_kept(s, 1, {{.id = 1, .number = given.number + 7}}, true);
  REQUIRE(kept.size() == 1);
  CHECK(kept[0].id == 1);
  CHECK(kept == s.leases_of(1));
}

TEST_CASE("joining: what a node has of an earlier head it keeps if the task waits") {
  auto s = with_nodes(1);
  s.submit({.id = 1});
  const std::vector<lease> has{{.id = 1, .number = 40}, {.id = 2, .number = 41}};
  const auto kept = leases_kept(s, 1, has, false);
  REQUIRE(kept.size() == 1);
  CHECK(kept[0].id == 1);
  CHECK(kept == s.leases_of(1));
}

TEST_CASE("joining: a lost process is remembered until its end is known") {
  lost_processes lost;
  lost.remember(900, 1);
  CHECK(lost.forget(900) == node_id(1));
  CHECK_FALSE(lost.forget(900));
  for (node_id n = 1; n <= 1001; ++n)
    lost.remember(5'000 - n, n);
  CHECK(lost.size() == 1000);
  CHECK_FALSE(lost.forget(4'999)); // The first of them.
  CHECK(lost.forget(4'998) == node_id(2));
}

TEST_CASE("joining: members are told of their team when it is formed or changes") {
  team_roster roster;
  const auto changes = [&](const std::vector<formed_team>& present) {
    std::string text;
    for (const auto& [team, goes_on] : roster.update(present))
      text += std::to_string(team.members.size()) + (goes_on ? " go on " : " begin ");
    return text;
  };
  CHECK(changes({team_of({1, 2, 3})}) == "3 begin ");
  CHECK(changes({team_of({1, 2, 3})}).empty());
  CHECK(changes({team_of({1, 3})}) == "2 go on ");
  CHECK_FALSE(roster.empty());
  CHECK(changes({}).empty());
  CHECK(roster.empty());
  CHECK(changes({team_of({1, 3})}) == "2 begin ");
}
