#include "tests/engine/queue/queue_fixture.hpp"

using namespace clade;
using namespace clade::test;
using namespace std::chrono_literals;

TEST_CASE("queue: an entry waits, runs and succeeds") {
  queue_fixture q(2);
  const auto id = q.submit(a_command());
  CHECK(to_text(q.state) == "#1 ann waiting p0 1 slot\n");
  CHECK(q.step() == std::vector<entry_id>{1});
  CHECK(to_text(q.state) == "#1 ann running p0 1 slot cpu:0\n");
  q.pass(10s);
  q.finish(id);
  CHECK(q.state_of(id) == entry_state::succeeded);
  CHECK(q.state.use.at("ann").slot_seconds == Approx(10).epsilon(1e-3));
}

TEST_CASE("queue: what comes after one that fails is held, and what comes after that") {
  queue_fixture q(1);
  q.submit(a_command());
  auto second = a_command();
  second.after = {1};
  q.submit(second);
  auto third = a_command();
  third.after = {2};
  q.submit(third);
  CHECK(q.step() == std::vector<entry_id>{1});
  CHECK(why_waiting(q.state, q.rules, q.slots, 2) == "waits for #1");
  q.finish(1, 3);
  CHECK(q.state_of(1) == entry_state::failed);
  CHECK(q.state_of(2) == entry_state::held);
  CHECK(q.state.entries.at(3).reason == "#2 did not succeed");
  auto late = a_command();
  late.after = {3};
  CHECK(q.state_of(q.submit(late)) == entry_state::held);
  CHECK(q.step().empty());
  REQUIRE(q.tell(entry_ended{.id = 2, .state = entry_state::cancelled}));
  CHECK(q.state_of(2) == entry_state::cancelled);
}

TEST_CASE("queue: an entry begins once all that it comes after have succeeded") {
  queue_fixture q(3);
  q.submit(a_command());
  q.submit(a_command());
  auto third = a_command();
  third.after = {1, 2};
  q.submit(third);
  CHECK(q.step() == std::vector<entry_id>{1, 2});
  q.finish(2);
  CHECK(q.step().empty());
  q.finish(1);
  CHECK(q.step() == std::vector<entry_id>{3});
}

TEST_CASE(
    "queue: what is lost waits again, however often, where nothing shows that it is "
    "the cause") {
  queue_fixture q(1);
  q.submit(a_command());
  for (std::uint32_t loss = 1; loss <= 3 * most_losses; ++loss) {
    REQUIRE(q.step().size() == 1);
    REQUIRE(q.tell(entry_lost{.id = 1, .own_doing = false}));
    CHECK(q.state_of(1) == entry_state::preempted);
    CHECK(q.state.entries.at(1).losses == loss);
  }
  REQUIRE(q.step().size() == 1);
  q.finish(1);
  CHECK(q.state_of(1) == entry_state::succeeded);
}

TEST_CASE("queue: what was alone on a machine that went down is not begun for ever") {
  queue_fixture q(1);
  q.submit(a_command());
  REQUIRE(q.step().size() == 1);
  REQUIRE(q.tell(entry_lost{.id = 1, .own_doing = false}));
  for (std::uint32_t loss = 1; loss < most_losses; ++loss) {
    REQUIRE(q.step().size() == 1);
    REQUIRE(q.tell(entry_lost{1}));
    CHECK(q.state_of(1) == entry_state::preempted);
    CHECK(q.state.entries.at(1).own_losses == loss);
  }
  REQUIRE(q.step().size() == 1);
  REQUIRE(q.tell(entry_lost{.id = 1, .own_doing = true}));
  CHECK(q.state_of(1) == entry_state::failed);
  CHECK(
      q.state.entries.at(1).reason
      == "was lost 6 times with the server, 5 of them alone on a machine that went down "
         "meanwhile; submit it again");
}

TEST_CASE("queue: what was cancelled does not come back with the server") {
  queue_fixture q(1);
  q.submit(a_run());
  q.step();
  REQUIRE(q.tell(entry_stopping{.id = 1, .cause = stop_cause::cancelled, .who = "ann"}));
  REQUIRE(q.tell(entry_stopping{.id = 1, .cause = stop_cause::preempted, .who = "#2"}));
  REQUIRE(q.tell(entry_lost{1}));
  CHECK(q.state_of(1) == entry_state::cancelled);
}

TEST_CASE("queue: how an entry ends follows from what it was told") {
  queue_fixture q(1);
  q.submit(a_run());
  q.submit(a_command());
  const auto end = [&](entry_id id, std::optional<stop_cause> told, int status) {
    auto e = q.state.entries.at(id);
    e.stopping = told;
    return end_of(id, e, status, "S").state;
  };
  constexpr int done = 0, failed = 1 << 8, interrupted = 130 << 8, killed = 9;
  CHECK(end(1, {}, done) == entry_state::succeeded);
  CHECK(end(1, {}, failed) == entry_state::failed);
  CHECK(end(1, {}, interrupted) == entry_state::failed);
  CHECK(end(1, stop_cause::cancelled, interrupted) == entry_state::cancelled);
  CHECK(end(1, stop_cause::preempted, interrupted) == entry_state::preempted);
  CHECK(end(1, stop_cause::preempted, killed) == entry_state::preempted);
  CHECK(end(1, stop_cause::preempted, done) == entry_state::succeeded);
  CHECK(end(1, stop_cause::preempted, failed) == entry_state::failed);
  CHECK(end(1, stop_cause::out_of_time, interrupted) == entry_state::failed);
  CHECK(end(2, stop_cause::server_stopped, failed) == entry_state::preempted);
}

TEST_CASE("queue: events that do not fit are refused and change nothing") {
  queue_fixture q(2);
  q.submit(a_command());
  auto ahead = a_command();
  ahead.after = {2};
  const auto before = q.state;
  for (const queue_event& wrong : std::vector<queue_event>{
           entry_submitted{.id = 3},
           entry_submitted{.id = 2, .what = ahead},
           entry_started{.id = 2, .slots = {"cpu:0"}},
           entry_started{.id = 1, .slots = {}},
           entry_ended{.id = 1, .state = entry_state::succeeded},
           entry_ended{.id = 1, .state = entry_state::running},
           entry_stopping{.id = 1},
           entry_lost{.id = 1},
       }) {
    const auto folded = q.tell(wrong);
    REQUIRE_FALSE(folded);
    CHECK(folded.error().kind == error_kind::corrupt);
    CHECK(q.state == before);
  }
  REQUIRE(q.step().size() == 1);
  q.submit(a_command());
  CHECK_FALSE(q.tell(entry_started{.id = 2, .slots = {"cpu:0"}})); // #1 has it.
}
