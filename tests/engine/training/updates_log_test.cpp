#include "engine/training/parallel/common/updates_log.hpp"
#include "engine/training/parallel/exchange/replay_plan.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

using namespace clade;

namespace {

std::vector<applied_gradient> some_updates(std::uint32_t workers) {
  return *rc::gen::container<std::vector<applied_gradient>>(rc::gen::apply(
      [](std::uint32_t worker, std::uint32_t staleness) {
        return applied_gradient{.worker = worker, .staleness = staleness};
      },
      rc::gen::inRange(0U, workers), rc::gen::arbitrary<std::uint32_t>()));
}

/// Two workers and a holder: worker 1 is first, twice, from the first version.
const epoch_updates two_ahead{{{1, 0}, {1, 1}, {0, 0}, {0, 1}}};

} // namespace

TEST_CASE("updates log: it is read as it was written") {
  CHECK(rc::check([] {
    updates_log log;
    log.workers = *rc::gen::inRange(1U, 200U);
    const auto epochs = *rc::gen::inRange(1, 4);
    for (int i = 0; i < epochs; ++i)
      log.epochs.push_back({some_updates(log.workers), some_updates(log.workers)});
    const auto read = decode_updates_log(encode(log));
    RC_ASSERT(read);
    RC_ASSERT((*read == log));
  }));
  CHECK(encode(updates_log{.workers = 3, .epochs = {}}).empty());
  CHECK(decode_updates_log({})->epochs.empty());
}

TEST_CASE("updates log: any bytes give a log or an error") {
  CHECK(rc::check([](const std::vector<char>& data) {
    static_cast<void>(decode_updates_log(data));
    auto log = encode(updates_log{.workers = 2, .epochs = {two_ahead}});
    log[*rc::gen::inRange<std::size_t>(0, log.size())] ^= 4;
    RC_ASSERT_FALSE(decode_updates_log(log).has_value());
  }));
}

TEST_CASE("replay plan: each gradient with the versions that it is computed from") {
  const auto plan = plan_replay(two_ahead, {.holders = 1, .workers = 2}, 2);
  REQUIRE(plan);
  CHECK(plan->lookahead == 1);
  REQUIRE(plan->gradients.size() == 2);
  CHECK(plan->gradients[0][0].versions == std::vector<std::uint64_t>{2});
  CHECK(plan->gradients[0][1].versions == std::vector<std::uint64_t>{2});
  CHECK(plan->gradients[1][1].versions == std::vector<std::uint64_t>{0});
  REQUIRE(plan->deliveries[0].size() == 1);
  CHECK(plan->deliveries[0][0].version == 2);
  CHECK(plan->deliveries[0][0].worker == 0);
}

TEST_CASE("replay plan: what no training can have done is refused") {
  const exchange_rules two{.holders = 1, .workers = 2};
  CHECK_FALSE(plan_replay(two_ahead, two, 3));
  CHECK_FALSE(plan_replay({{{0, 0}, {1, 0}}, {}}, two, 1)); // Two holders.
  CHECK_FALSE(plan_replay({{{0, 0}, {0, 0}}}, two, 1));     // Nothing of worker 1.
  CHECK_FALSE(plan_replay({{{0, 0}, {1, 2}}}, two, 1)); // From before the first version.
  CHECK_FALSE(plan_replay({{{0, 0}, {2, 0}}}, two, 1)); // There is no worker 2.
  // Each holder waits for what is computed from the other's next version.
  const exchange_rules both{.holders = 2, .workers = 2};
  CHECK(plan_replay({{{0, 0}, {1, 1}}, {{0, 0}, {1, 1}}}, both, 1));
  CHECK_FALSE(plan_replay({{{0, 0}, {1, 0}}, {{1, 0}, {0, 0}}}, both, 1));
}

TEST_CASE("updates log: who was left out far more often than the others is named") {
  // Worker 2 has a part in one of four steps of two gradients each.
  updates_log log{.workers = 3, .epochs = {{{{0, 0}, {1, 0}, {1, 0}, {0, 0}}}}};
  log.epochs.push_back({{{0, 0}, {1, 0}, {2, 0}, {0, 0}}});
  CHECK((late_workers(log, 2)
         == std::vector{left_out_gradients{.worker = 2, .left_out = 3, .of = 4}}));
  CHECK(late_workers(log, 0).empty());
  const updates_log even{.workers = 3,
                         .epochs = {{{{0, 0}, {1, 0}, {1, 0}, {2, 0}, {2, 0}, {0, 0}}}}};
  CHECK(late_workers(even, 2).empty());
}
