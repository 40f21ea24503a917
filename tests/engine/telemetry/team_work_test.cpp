#include "engine/telemetry/picture/team_work.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

constexpr std::uint64_t second = 1'000'000;

} // namespace

TEST_CASE("team work: rates are of the time since a node told last") {
  team_share share;
  const team_work before{
      .exchanges = 10, .bytes_sent = 100, .waited_us = 0, .time_us = second};
  const team_work now{
      .exchanges = 30, .bytes_sent = 500, .waited_us = second, .time_us = 3 * second};
  add_work(share, before, now);
  CHECK(share.steps == 10);
  CHECK(share.bytes == 200);
  CHECK(share.waits == Approx(0.4 * 0.5));
  // The first of a task has no mean to weigh against.
  team_share first;
  add_work(first, {}, now);
  CHECK(first.waits == Approx(1.0 / 3));
}

TEST_CASE("team work: a new task, whose counts are smaller, changes no rate") {
  team_share share{.steps = 7};
  const team_work before{.exchanges = 10, .waited_us = 5, .time_us = second};
  add_work(share, before, {.exchanges = 1, .waited_us = 5, .time_us = 2 * second});
  add_work(share, before, {.exchanges = 11, .waited_us = 4, .time_us = 2 * second});
  add_work(share, before, before);
  CHECK(share.steps == 7);
}

TEST_CASE("team work: nobody waits for longer than all of the time") {
  team_share share;
  add_work(share, {}, {.exchanges = 1, .waited_us = 3 * second, .time_us = second});
  CHECK(share.waits == 1);
}
