#include "tests/engine/scheduling/schedule_fixture.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <set>

using namespace clade;
using namespace clade::test;

namespace {

task gang(candidate_id id, std::uint32_t slots, double work = 1) {
  return {.id = id, .work = work, .needs = {.slots = slots}};
}

} // namespace

TEST_CASE(
    "gang: it gets its slots of one machine together, and they come free together") {
  auto s = on_machines({2, 3});
  s.submit(gang(1, 3));
  const auto out = s.hand_out(start);
  REQUIRE(out.size() == 1);
  CHECK(out[0].node == 3);
  CHECK(s.busy() == 3);
  CHECK(s.held() == std::map<node_id, node_id>{{4, 3}, {5, 3}});
  for (candidate_id id = 2; id <= 5; ++id)
    s.submit(gang(id, 1));
  CHECK(s.hand_out(start).size() == 2);
  CHECK(s.hand_out(start).empty());
  CHECK(s.accept(3, 1, out[0].leases[0].number, 5.0) == 1);
  CHECK(s.hand_out(start).size() == 2);
  CHECK(s.held().empty());
}

TEST_CASE("gang: slots are kept for one that waits, and no more than it needs") {
  auto s = on_machines({3});
  s.submit(gang(1, 1, 9));
  s.submit(gang(2, 1, 8));
  const auto out = s.hand_out(start);
  REQUIRE(out.size() == 2);
  s.submit(gang(3, 2, 5));
  s.submit(gang(4, 1, 1));
  s.submit(gang(5, 1, 1));
  // One is free and one more is kept: the third is not.
  CHECK(s.hand_out(start).empty());
  CHECK(s.accept(2, 2, out[1].leases[0].number, 1.0) == 1);
  const auto next = s.hand_out(start);
  REQUIRE(next.size() == 1);
  CHECK(ids(next[0]) == std::vector<candidate_id>{3});
  CHECK(s.accept(1, 1, out[0].leases[0].number, 1.0) == 1);
  CHECK(s.hand_out(start).size() == 1);
}

TEST_CASE("gang: it is handed out again when its first node is lost, not another one") {
  auto s = on_machines({3});
  s.submit(gang(1, 2));
  const auto out = s.hand_out(start);
  REQUIRE(out.size() == 1);
  CHECK(s.leave(2, start).empty());
  const auto lost = s.leave(1, start);
  REQUIRE(lost.size() == 1);
  CHECK(lost[0].id == task_id(1));
  CHECK(s.hand_out(start).empty()); // A single slot is left.
  s.join(4, {.slot = "slot 4", .machine = 1}, start);
  CHECK(s.hand_out(start).size() == 1);
}

TEST_CASE("gang: one that no machine is large enough for lets others pass") {
  auto s = on_machines({2, 2});
  s.submit(gang(1, 3, 9));
  s.submit(gang(2, 1));
  const auto out = s.hand_out(start);
  REQUIRE(out.size() == 1);
  CHECK(ids(out[0]) == std::vector<candidate_id>{2});
}

TEST_CASE("gang: any mix ends, and no slot has two tasks") {
  CHECK(rc::check([](const std::vector<std::uint8_t>& machines,
                     const std::vector<std::uint8_t>& needs,
                     const std::vector<std::uint8_t>& order) {
    std::vector<std::size_t> sizes{4};
    for (const auto m : machines)
      sizes.push_back(m % 5);
    auto s = on_machines(sizes);
    candidate_id id = 0;
    for (const auto n : needs)
      s.submit(gang(++id, n % 4 + 1, n / 4));
    std::map<node_id, std::vector<lease>> at_work;
    std::size_t done = 0, turn = 0;
    for (;;) {
      for (const auto& out : s.hand_out(start)) {
        RC_ASSERT(!s.held().contains(out.node)); // It does nothing else.
        auto& has = at_work[out.node];
        has.insert(has.end(), out.leases.begin(), out.leases.end());
      }
      std::erase_if(at_work, [](const auto& w) { return w.second.empty(); });
      if (at_work.empty())
        break;
      const auto step = order.empty() ? turn : order[turn % order.size()];
      ++turn;
      auto& [node, has] =
          *std::next(at_work.begin(), static_cast<std::ptrdiff_t>(step % at_work.size()));
      RC_ASSERT(s.accept(node, has.front().id, has.front().number, 100) != 0);
      has.erase(has.begin());
      ++done;
    }
    RC_ASSERT(done == needs.size());
    RC_ASSERT(s.busy() == 0);
  }));
}
