#include "engine/queue/waiting_limits.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

std::vector<queue_event> submitted(entry_id from, std::size_t count,
                                   const queue_submission& what) {
  std::vector<queue_event> all;
  for (std::size_t n = 0; n < count; ++n)
    all.emplace_back(entry_submitted{.id = from + n, .what = what});
  return all;
}

} // namespace

TEST_CASE("waiting limits: a user has so many entries waiting, and others as many") {
  const queue_rules rules{.most_waiting = 3};
  queue_state state;
  for (const auto& e : submitted(1, 2, {.user = "ann", .words = {"true"}}))
    REQUIRE(apply(state, e, 0));
  CHECK(check_waiting(state, rules, submitted(3, 1, {.user = "ann"})));
  const auto refused = check_waiting(state, rules, submitted(3, 2, {.user = "ann"}));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == error_kind::conflict);
  CHECK(refused.error().message
        == "ann would have more than 3 entries waiting, which is what one user may have "
           "(clade serve --most-waiting N); submit it when less waits");
  CHECK(check_waiting(state, rules, submitted(3, 3, {.user = "bob"})));
  // An entry that has begun waits no more.
  REQUIRE(apply(state, entry_started{.id = 1, .slots = {"cpu:0"}}, 0));
  CHECK(check_waiting(state, rules, submitted(3, 2, {.user = "ann"})));
}

TEST_CASE("waiting limits: what waits of a user has a size, whatever it consists of") {
  const queue_rules rules{.most_waiting_bytes = 1 << 20};
  const queue_state state;
  const std::string kib(1024, 'a');
  for (const queue_submission& s :
       {queue_submission{.user = "ann", .words = {kib}},
        queue_submission{.user = "ann", .words = std::vector<std::string>(64)},
        queue_submission{.user = "ann", .after = std::vector<entry_id>(200)},
        queue_submission{.user = "ann", .name = kib}}) {
    const auto many = (1 << 20) / bytes_of(s);
    CHECK(many < 1024);
    CHECK(check_waiting(state, rules, submitted(1, many, s)));
    CHECK(
        check_waiting(state, rules, submitted(1, many + 1, s)).error().message
        == "ann would have more than 1 MiB of commands waiting, which is what one user "
           "may have (clade serve --most-waiting-size SIZE); submit it when less waits");
  }
}
