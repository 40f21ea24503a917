// Tasks that nodes do together.
#include "tests/actors/head/dispatcher_fixture.hpp"

using namespace clade;
using namespace clade::test;

namespace {

std::vector<std::uint16_t> ports(const team_formed& t) {
  std::vector<std::uint16_t> all;
  for (const auto& m : t.members)
    all.push_back(m.address.port);
  return all;
}

struct team_fixture : fixture {
  team_fixture() : fixture(10s, 2) {}

  node first = join(), second = join();

  [[nodiscard]] std::vector<std::uint16_t> both() const {
    return {port_of(first.id), port_of(second.id)};
  }
};

} // namespace

TEST_CASE("dispatcher: members of a team get its task and hear who the others are") {
  team_fixture f;
  f.submit(1);
  for (const auto* n : {&f.first, &f.second}) {
    REQUIRE(n->was->assignments.size() == 1);
    CHECK(std::get<training_task>(n->was->assignments[0].what).shares == 2);
    CHECK(n->was->assignments[0].lease == f.first.was->assignments[0].lease);
    REQUIRE(n->was->teams.size() == 1);
    CHECK(ports(n->was->teams[0]) == f.both());
  }
  CHECK(f.first.was->teams[0].own == 0);
  CHECK(f.second.was->teams[0].own == 1);
  CHECK(f.first.was->teams[0].generation > 0);
}

TEST_CASE("dispatcher: a team is formed anew when a member is lost or comes") {
  team_fixture f;
  f.submit(1);
  f.cut(f.first);
  REQUIRE(f.second.was->teams.size() == 2);
  CHECK(ports(f.second.was->teams[1])
        == std::vector<std::uint16_t>{f.port_of(f.second.id)});
  CHECK(f.second.was->teams[1].own == 0);
  CHECK(f.second.was->teams[1].generation > f.second.was->teams[0].generation);
  CHECK(std::ranges::find(f.said, "#1 goes on with 1 of 2 slots") != f.said.end());
  const auto third = f.join();
  REQUIRE(third.was->assignments.size() == 1);
  CHECK(third.was->assignments[0].lease == f.second.was->assignments[0].lease);
  REQUIRE(third.was->teams.size() == 1);
  CHECK(third.was->teams[0].own == 1);
  CHECK(f.second.was->teams.size() == 3);
  CHECK(f.attempts() == 0);
}

TEST_CASE("dispatcher: the result of any member counts, and the others forget the task") {
  team_fixture f;
  f.submit(1);
  const auto& a = f.second.was->assignments.at(0);
  CHECK(f.answer(f.second, a).ids == std::vector<task_id>{1});
  REQUIRE(f.told->evaluations.size() == 1);
  CHECK(f.told->evaluations[0].slot == f.second.hello.slot);
  CHECK(f.first.was->forgets == std::vector<task_id>{1});
  CHECK(f.answer(f.first, a).ids == std::vector<task_id>{1});
  CHECK(f.told->evaluations.size() == 1);
  f.submit(2);
  CHECK(f.first.was->assignments.size() == 2);
  CHECK(f.second.was->assignments.size() == 2);
}

TEST_CASE("dispatcher: a member whose machine cannot go on leaves the team, which does") {
  team_fixture f;
  f.submit(1);
  const auto& a = f.second.was->assignments.at(0);
  const result full{.id = 1, .lease = a.lease, .what = task_failure{"the disk is full"}};
  CHECK(f.answer(f.second, full).ids == std::vector<task_id>{1});
  CHECK(f.told->evaluations.empty());
  CHECK(f.attempts() == 0);
  REQUIRE(f.first.was->teams.size() == 2);
  CHECK(ports(f.first.was->teams[1])
        == std::vector<std::uint16_t>{f.port_of(f.first.id)});
  CHECK(
      std::ranges::find(f.said, f.second.hello.slot
                                    + " cannot go on with #1, as the disk is full: it is "
                                      "quarantined, and tried again in 5 s")
      != f.said.end());
  const auto view = f.ask<slots_view>(slots_query{});
  REQUIRE(view.failures.size() == 1);
  CHECK(view.failures[0].slot == f.second.hello.slot);
  CHECK(view.failures[0].last == "#1: the disk is full");
  // With the last one the attempt has failed, and the task waits.
  CHECK(f.answer(f.first, full).ids == std::vector<task_id>{1});
  CHECK(f.attempts() == 1);
  CHECK(f.told->evaluations.empty());
  CHECK(f.ask<slots_view>(slots_query{}).waiting == 1);
}

TEST_CASE(
    "dispatcher: the next head's formations are newer than those of the one before") {
  fixture f(10s, 2);
  auto node = f.join();
  f.submit(1);
  node.hello.session += 1'000;
  node.hello.slot = "cpu:x";
  node.hello.run = this_run;
  node.hello.ready = true;
  node.hello.has = {{.id = 1, .lease = 40, .generation = 70}};
  const auto welcome = f.connect(node);
  REQUIRE(welcome.keep.size() == 1);
  const auto more = f.join();
  REQUIRE_FALSE(node.was->teams.empty());
  CHECK(node.was->teams[0].generation > 70);
}
