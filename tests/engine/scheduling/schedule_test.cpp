#include "tests/engine/scheduling/schedule_fixture.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

using namespace clade;
using namespace clade::test;

TEST_CASE("schedule: the longest candidates go first") {
  auto s = with_nodes(2);
  s.submit({.id = 1, .work = double(10)});
  s.submit({.id = 2, .work = double(30)});
  s.submit({.id = 3, .work = double(20)});
  const auto out = s.hand_out(start);
  REQUIRE(out.size() == 2);
  CHECK(ids(out[0]) == std::vector<candidate_id>{2});
  CHECK(ids(out[1]) == std::vector<candidate_id>{3});
  CHECK(s.waiting() == 1);
  CHECK(s.busy() == 2);
}

TEST_CASE("schedule: a node with a candidate gets no other until its result is there") {
  auto s = with_nodes(1);
  s.submit({.id = 1, .work = double(1)});
  s.submit({.id = 2, .work = double(1)});
  const auto first = s.hand_out(start);
  REQUIRE(first.size() == 1);
  CHECK(s.hand_out(start).empty());
  CHECK(s.accept(1, 1, first[0].leases[0].number, 2.0) == 1);
  CHECK(ids(s.hand_out(start).at(0)) == std::vector<candidate_id>{2});
}

TEST_CASE("schedule: short evaluations travel in batches with a second one waiting") {
  auto s = with_nodes(1, {.batch_time = 20ms, .max_batch = 8});
  for (candidate_id id = 1; id <= 40; ++id)
    s.submit({.id = id, .work = double(0)});
  const auto first = s.hand_out(start);
  REQUIRE(s.accept(1, 1, first[0].leases[0].number, 0.001) == 1);
  const auto out = s.hand_out(start);
  REQUIRE(out.size() == 2);
  CHECK(out[0].leases.size() == 8);
  CHECK(out[1].leases.size() == 8);
  CHECK(s.leased() == 16);
}

TEST_CASE("schedule: what is left is shared by all nodes") {
  auto s = with_nodes(2, {.max_batch = 64});
  for (candidate_id id = 1; id <= 12; ++id)
    s.submit({.id = id, .work = double(0)});
  const auto first = s.hand_out(start);
  REQUIRE(s.accept(1, 1, first[0].leases[0].number, 1e-6) == 1);
  const auto out = s.hand_out(start);
  CHECK(out.at(0).leases.size() == 5);
  CHECK(out.at(1).leases.size() == 3);
}

TEST_CASE("schedule: a result that comes after its lease is ignored") {
  auto s = with_nodes(2);
  s.submit({.id = 1, .work = double(1)});
  const auto first = s.hand_out(start).at(0);
  REQUIRE(s.leave(first.node, start).size() == 1);
  const auto second = s.hand_out(start).at(0);
  CHECK(s.accept(first.node, 1, first.leases[0].number, 1.0) == 0);
  CHECK(s.accept(second.node, 1, first.leases[0].number, 1.0) == 0);
  CHECK(s.accept(second.node, 1, second.leases[0].number, 1.0) == 2);
  CHECK(s.accept(second.node, 1, second.leases[0].number, 1.0) == 0);
}

TEST_CASE("schedule: only nodes that are not heard for the lease time are silent") {
  auto s = with_nodes(2, {.lease = 10s});
  s.hear(2, start + 5s);
  CHECK(s.silent(start + 10s).empty());
  CHECK(s.silent(start + 11s) == std::vector<node_id>{1});
}

TEST_CASE("schedule: what no node has can be taken back") {
  auto s = with_nodes(1);
  s.submit({.id = 1, .work = double(2)});
  s.submit({.id = 2, .work = double(1)});
  REQUIRE(s.hand_out(start).size() == 1);
  CHECK(s.withdraw() == std::vector<task_id>{2});
  CHECK(s.leased() == 1);
}

TEST_CASE("schedule: whatever happens every candidate ends exactly once") {
  const bool holds = rc::check([](const std::vector<std::uint8_t>& events) {
    schedule s({.max_batch = 4, .quarantine = {.failures = 1'000'000}});
    std::vector<std::pair<node_id, lease>> held;
    std::set<task_id> ended;
    node_id last_node = 0;
    candidate_id last_candidate = 0;
    const auto accept = [&](std::size_t which, double seconds) {
      auto [node, l] = held[which];
      held.erase(held.begin() + static_cast<std::ptrdiff_t>(which));
      if (s.accept(node, l.id, l.number, seconds) != 0)
        RC_ASSERT(ended.insert(l.id).second);
    };
    // Several processes share a slot, as one after the other has it.
    const auto join = [&] {
      ++last_node;
      s.join(last_node, {.slot = "cpu:" + std::to_string(last_node % 3)}, start);
    };
    const auto hand_out = [&] {
      for (const auto& out : s.hand_out(start))
        for (const auto& l : out.leases)
          held.emplace_back(out.node, l);
    };
    // 0: for no reason, 1: by its own doing, 2: by its own doing, as is known later.
    const auto lose = [&](node_id node, int why) {
      for (const auto& lost : s.leave(node, start, why == 1))
        if (lost.given_up)
          RC_ASSERT(ended.insert(lost.id).second);
      if (why == 2)
        if (const auto late = s.convict(node))
          RC_ASSERT(ended.insert(late->id).second);
    };
    for (auto e : events) {
      if (e % 4 == 0)
        join();
      else if (e % 4 == 1)
        s.submit({.id = ++last_candidate, .work = double(e)});
      else if (e % 4 == 2 && !held.empty())
        accept(e / 4 % held.size(), e < 128 ? 1e-6 : 1.0);
      else if (e % 4 == 3 && last_node > 0)
        lose(1 + e / 4 % last_node, e % 3);
      hand_out();
    }
    join();
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

TEST_CASE("schedule: a candidate goes where its memory fits") {
  schedule s;
  s.join(1, {.slot = "small", .memory_bytes = 100}, start);
  s.join(2, {.slot = "large", .memory_bytes = 1000}, start);
  s.submit({.id = 1, .work = 9, .needs = {500}});
  s.submit({.id = 2, .work = 8, .needs = {600}});
  s.submit({.id = 3, .work = 7, .needs = {50}});
  const auto out = s.hand_out(start);
  REQUIRE(out.size() == 2);
  CHECK(out[0] == handout{1, {{.id = 3, .number = 1, .attempt = 1}}});
  CHECK(out[1] == handout{2, {{.id = 1, .number = 2, .attempt = 1}}});
  CHECK(s.too_large().empty());
  CHECK(s.waiting() == 1); // It waits for the large one.
}

TEST_CASE("schedule: what fits no slot is taken out once there is a slot") {
  schedule s;
  s.submit({.id = 1, .needs = {5000}});
  CHECK(s.too_large().empty());
  s.join(1, {.slot = "small", .memory_bytes = 100}, start);
  const auto refused = s.too_large();
  REQUIRE(refused.size() == 1);
  CHECK(refused[0].id == 1);
  CHECK(s.waiting() == 0);
}

TEST_CASE(
    "schedule: a node that came back keeps what it has and gives what it never got") {
  schedule s;
  s.join(1, {.slot = "a"}, start);
  s.submit({.id = 1});
  const auto held = s.hand_out(start).at(0).leases.at(0);
  s.close(1, start);
  s.join(1, {.slot = "a"}, start + 1s);
  CHECK(s.reconcile(1, {held}).empty());
  CHECK(s.leased() == 1);
  CHECK(s.reconcile(1, {}).empty());
  CHECK(s.leased() == 0);
  const auto again = s.hand_out(start + 1s).at(0).leases.at(0);
  CHECK(again.attempt == 1); // Nobody died of it.
  CHECK(s.reconcile(1, {held, again}) == std::vector<lease>{held});
}

TEST_CASE("schedule: what a node has from an earlier head becomes its own if it waits") {
  schedule s;
  s.submit({.id = 7});
  s.join(1, {.slot = "a"}, start);
  const auto given = s.adopt(1, 7);
  REQUIRE(given);
  CHECK_FALSE(s.adopt(1, 7));
  CHECK_FALSE(s.adopt(1, 8));
  CHECK(s.accept(1, 7, given->number, 1.0) == 1);
}

TEST_CASE("schedule: a node that is away, quiet or leaving gets nothing") {
  schedule s({.quiet = 3s});
  s.join(1, {.slot = "a"}, start);
  s.close(1, start);
  s.submit({.id = 1});
  CHECK(s.hand_out(start).empty());
  s.hear(1, start);
  CHECK(s.hand_out(start + 4s).empty());
  s.hear(1, start + 4s);
  const auto out = s.hand_out(start + 4s);
  REQUIRE(out.size() == 1);
  s.retire(1, {1});
  CHECK(s.leased() == 0);
  CHECK(s.waiting() == 1);
  CHECK(s.hand_out(start + 4s).empty());
}

TEST_CASE("schedule: a closed connection shortens the lease and a heartbeat renews it") {
  schedule s({.lease = 30s, .closed_lease = 3s});
  s.join(1, {.slot = "a"}, start);
  s.close(1, start + 1s);
  CHECK(s.silent(start + 4s).empty());
  CHECK(s.silent(start + 5s) == std::vector<node_id>{1});
  s.hear(1, start + 5s);
  CHECK(s.silent(start + 35s).empty());
  CHECK(s.silent(start + 36s) == std::vector<node_id>{1});
}

TEST_CASE("schedule: a test is a task of its own and travels alone") {
  auto s = with_nodes(2, {.batch_time = 20ms, .max_batch = 8});
  s.submit({.id = 1});
  REQUIRE(s.accept(1, 1, s.hand_out(start).at(0).leases[0].number, 1e-6) == 1);
  const task_id test{1, task_type::test}, baseline{0, task_type::test};
  s.submit({.id = test, .alone = true});
  s.submit({.id = baseline, .alone = true});
  const auto out = s.hand_out(start);
  REQUIRE(out.size() == 2);
  CHECK(out[0].leases.size() == 1);
  CHECK(out[0].leases[0].id == baseline);
  CHECK(out[1].leases[0].id == test);
  // The training of the same candidate is another task, and its lease no test's.
  CHECK(s.accept(2, 1, out[1].leases[0].number, -1) == 0);
  CHECK(s.accept(2, test, out[1].leases[0].number, -1) == 1);
  CHECK(s.hand_out(start).empty());
}

TEST_CASE(
    "schedule: what tasks took of the machine's memory tells nothing of a device's") {
  schedule s;
  s.join(1, {.slot = "cpu:0", .memory_bytes = 10'000}, start);
  s.join(2, {.slot = "cuda:0", .memory_bytes = 1'000, .measured = false}, start);
  // Enough measurements of five times the estimate for a forecast.
  for (std::uint64_t estimate = 50; estimate <= 500; estimate += 50) {
    s.submit({.id = 2 * estimate, .work = 1, .needs = {estimate}});
    s.submit({.id = 2 * estimate + 1, .work = 1, .needs = {estimate}});
    const auto out = s.hand_out(start);
    REQUIRE(out.size() == 2);
    for (const auto& [node, leases] : out)
      REQUIRE(s.accept(node, leases[0].id, leases[0].number, 1, 5 * estimate) == 1);
  }
  s.submit({.id = 2000, .work = 2, .needs = {3'000}});
  s.submit({.id = 2001, .work = 1, .needs = {900}});
  const auto refused = s.too_large();
  REQUIRE(refused.size() == 1);
  CHECK(refused[0].id == 2000);
  CHECK(refused[0].needs.memory_bytes == 3'000);
  CHECK(s.hand_out(start).size() == 1);
}

TEST_CASE("schedule: a task waits for the device that it needs, and others pass it") {
  schedule s;
  s.submit({.id = 1, .work = 9, .needs = {.memory_bytes = 50, .device = "cuda"}});
  s.submit({.id = 2, .work = 1});
  s.join(1, {.slot = "cpu:0", .memory_bytes = 10, .device = "cpu"}, start);
  CHECK(s.too_large().empty());
  CHECK(ids(s.hand_out(start).at(0)) == std::vector<candidate_id>{2});
  CHECK(s.waiting() == 1);
  s.join(2, {.slot = "cuda:0", .memory_bytes = 100, .device = "cuda"}, start);
  CHECK(ids(s.hand_out(start).at(0)) == std::vector<candidate_id>{1});
}

TEST_CASE(
    "schedule: whatever tasks need and nodes offer, each is given, waits or is refused "
    "for a reason") {
  CHECK(rc::check([](const std::vector<std::pair<std::uint8_t, std::uint8_t>>& needs,
                     const std::vector<std::pair<std::uint8_t, std::uint8_t>>& offers) {
    const std::array<std::string, 3> devices{"", "cpu", "cuda"};
    schedule s;
    std::map<candidate_id, task_needs> waits;
    std::map<node_id, offer> there;
    for (const auto& [memory, device] : needs) {
      const candidate_id id = waits.size() + 1;
      waits[id] = {.memory_bytes = memory, .device = devices[device % 3]};
      s.submit({.id = id, .needs = waits[id]});
    }
    for (const auto& [memory, device] : offers) {
      const node_id id = there.size() + 1;
      there[id] = {.slot = std::to_string(id),
                   .memory_bytes = memory,
                   .measured = false,
                   .device = devices[1 + device % 2]};
      s.join(id, there[id], start);
    }
    const auto has_device = [&](const offer& o, const task_needs& n) {
      return n.device.empty() || n.device == o.device;
    };
    const auto can = [&](const offer& o, const task_needs& n) {
      return has_device(o, n)
             && (o.memory_bytes == 0 || n.memory_bytes <= o.memory_bytes);
    };
    for (const auto& t : s.too_large()) {
      const auto n = waits.extract(t.id.candidate).mapped();
      bool device_there = false;
      for (const auto& [id, o] : there) {
        RC_ASSERT(!can(o, n));
        device_there = device_there || has_device(o, n);
      }
      RC_ASSERT(device_there);
    }
    std::set<node_id> busy;
    for (const auto& out : s.hand_out(start))
      for (const auto& l : out.leases) {
        busy.insert(out.node);
        RC_ASSERT(can(there.at(out.node), waits.extract(l.id.candidate).mapped()));
      }
    // A task that still waits finds every node that can do it busy.
    RC_ASSERT(s.waiting() == waits.size());
    for (const auto& [id, n] : waits)
      for (const auto& [node, o] : there)
        RC_ASSERT(!can(o, n) || busy.contains(node));
  }));
}
