#include "engine/dispatch/schedule.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <algorithm>
#include <set>

using namespace clade;
using namespace std::chrono_literals;

namespace {

const schedule::clock::time_point start{};

/// A schedule with so many nodes, numbered from 1.
schedule with_nodes(std::size_t count, schedule_params params = {}) {
  schedule s(params);
  for (std::size_t i = 1; i <= count; ++i)
    s.join(i, start);
  return s;
}

std::vector<candidate_id> ids(const handout& out) {
  std::vector<candidate_id> result;
  for (const auto& l : out.leases)
    result.push_back(l.id);
  return result;
}

} // namespace

TEST_CASE("schedule: the longest candidates go first") {
  auto s = with_nodes(2);
  s.submit(1, 10);
  s.submit(2, 30);
  s.submit(3, 20);
  const auto out = s.hand_out();
  REQUIRE(out.size() == 2);
  CHECK(ids(out[0]) == std::vector<candidate_id>{2});
  CHECK(ids(out[1]) == std::vector<candidate_id>{3});
  CHECK(s.waiting() == 1);
  CHECK(s.busy() == 2);
}

TEST_CASE("schedule: a node with a candidate gets no other until its result is there") {
  auto s = with_nodes(1);
  s.submit(1, 1);
  s.submit(2, 1);
  const auto first = s.hand_out();
  REQUIRE(first.size() == 1);
  CHECK(s.hand_out().empty());
  CHECK(s.accept(1, 1, first[0].leases[0].number, 2.0) == 1);
  CHECK(ids(s.hand_out().at(0)) == std::vector<candidate_id>{2});
}

TEST_CASE("schedule: short evaluations travel in batches with a second one waiting") {
  auto s = with_nodes(1, {.batch_time = 20ms, .max_batch = 8});
  for (candidate_id id = 1; id <= 40; ++id)
    s.submit(id, 0);
  const auto first = s.hand_out();
  REQUIRE(s.accept(1, 1, first[0].leases[0].number, 0.001) == 1);
  const auto out = s.hand_out();
  REQUIRE(out.size() == 2);
  CHECK(out[0].leases.size() == 8);
  CHECK(out[1].leases.size() == 8);
  CHECK(s.leased() == 16);
}

TEST_CASE("schedule: what is left is shared by all nodes") {
  auto s = with_nodes(2, {.max_batch = 64});
  for (candidate_id id = 1; id <= 12; ++id)
    s.submit(id, 0);
  const auto first = s.hand_out();
  REQUIRE(s.accept(1, 1, first[0].leases[0].number, 1e-6) == 1);
  const auto out = s.hand_out();
  CHECK(out.at(0).leases.size() == 5);
  CHECK(out.at(1).leases.size() == 3);
}

TEST_CASE("schedule: a candidate is handed out again when its node is lost") {
  auto s = with_nodes(2);
  s.submit(1, 1);
  const auto first = s.hand_out().at(0);
  CHECK(s.leave(first.node)
        == std::vector<lost_lease>{{.id = 1, .attempt = 1, .given_up = false}});
  const auto second = s.hand_out().at(0);
  CHECK(second.node != first.node);
  CHECK(second.leases[0].attempt == 2);
  CHECK(s.accept(second.node, 1, second.leases[0].number, 1.0) == 2);
}

TEST_CASE("schedule: a result that comes after its lease is ignored") {
  auto s = with_nodes(2);
  s.submit(1, 1);
  const auto first = s.hand_out().at(0);
  REQUIRE(s.leave(first.node).size() == 1);
  const auto second = s.hand_out().at(0);
  CHECK(s.accept(first.node, 1, first.leases[0].number, 1.0) == 0);
  CHECK(s.accept(second.node, 1, first.leases[0].number, 1.0) == 0);
  CHECK(s.accept(second.node, 1, second.leases[0].number, 1.0) == 2);
  CHECK(s.accept(second.node, 1, second.leases[0].number, 1.0) == 0);
}

TEST_CASE("schedule: a candidate that two node processes died of is given up") {
  auto s = with_nodes(3);
  s.submit(1, 1);
  CHECK_FALSE(s.leave(s.hand_out().at(0).node).at(0).given_up);
  CHECK(s.leave(s.hand_out().at(0).node).at(0).given_up);
  CHECK(s.hand_out().empty());
  CHECK(s.waiting() == 0);
}

TEST_CASE("schedule: of several candidates lost together none is blamed and each goes on "
          "alone") {
  auto s = with_nodes(2, {.max_batch = 4});
  for (candidate_id id = 1; id <= 9; ++id)
    s.submit(id, 0);
  for (const auto& out : s.hand_out())
    REQUIRE(s.accept(out.node, out.leases[0].id, out.leases[0].number, 1e-6) == 1);
  REQUIRE(s.hand_out().size() >= 2);
  const auto lost = s.leave(1);
  REQUIRE(lost.size() > 1);
  CHECK(std::ranges::none_of(lost, &lost_lease::given_up));
  s.join(7, start);
  const auto again = s.hand_out();
  REQUIRE_FALSE(again.empty());
  for (const auto& out : again)
    if (out.node == 7)
      CHECK(out.leases.size() == 1);
}

TEST_CASE("schedule: only nodes that are not heard for the lease time are silent") {
  auto s = with_nodes(2, {.lease = 10s});
  s.hear(2, start + 5s);
  CHECK(s.silent(start + 10s).empty());
  CHECK(s.silent(start + 11s) == std::vector<node_id>{1});
}

TEST_CASE("schedule: what no node has can be taken back") {
  auto s = with_nodes(1);
  s.submit(1, 2);
  s.submit(2, 1);
  REQUIRE(s.hand_out().size() == 1);
  CHECK(s.withdraw() == std::vector<candidate_id>{2});
  CHECK(s.leased() == 1);
}

TEST_CASE("schedule: whatever happens every candidate ends exactly once") {
  const bool holds = rc::check([](const std::vector<std::uint8_t>& events) {
    schedule s({.max_batch = 4});
    std::vector<std::pair<node_id, lease>> held;
    std::set<candidate_id> ended;
    node_id last_node = 0;
    candidate_id last_candidate = 0;
    const auto accept = [&](std::size_t which, double seconds) {
      auto [node, l] = held[which];
      held.erase(held.begin() + static_cast<std::ptrdiff_t>(which));
      if (s.accept(node, l.id, l.number, seconds) != 0)
        RC_ASSERT(ended.insert(l.id).second);
    };
    const auto hand_out = [&] {
      for (const auto& out : s.hand_out())
        for (const auto& l : out.leases)
          held.emplace_back(out.node, l);
    };
    for (auto e : events) {
      if (e % 4 == 0)
        s.join(++last_node, start);
      else if (e % 4 == 1)
        s.submit(++last_candidate, e);
      else if (e % 4 == 2 && !held.empty())
        accept(e / 4 % held.size(), e < 128 ? 1e-6 : 1.0);
      else if (e % 4 == 3 && last_node > 0)
        for (const auto& lost : s.leave(1 + e / 4 % last_node))
          if (lost.given_up)
            RC_ASSERT(ended.insert(lost.id).second);
      hand_out();
    }
    s.join(++last_node, start);
    hand_out();
    while (!held.empty()) {
      accept(0, 1e-6);
      hand_out();
    }
    RC_ASSERT(ended.size() == last_candidate);
    RC_ASSERT(s.leased() == 0u);
  });
  CHECK(holds);
}
