// A machine of a queue, played by the test: what the queue's head makes of what it says.

#include "genome/base/wall_clock.hpp"
#include "tests/tools/queue/served_queue.hpp"
#include "tools/queue/client/queue_tokens.hpp"

#include <catch2/catch.hpp>

using namespace clade;
using namespace clade::test;
using namespace std::chrono_literals;

namespace {

const queue_user lab{.name = "lab", .role = queue_role::worker},
    stranger{.name = "eve", .role = queue_role::worker},
    admin{.name = "root", .role = queue_role::admin};

/// Says what the test has it say.
struct played_node {
  queue_head& head;
  node_report says{.node = "rome",
                   .session = "first",
                   .first = true,
                   .slots = {{"cpu:0", "cpu"}},
                   .program = node_program{.version = "0.1.0"}};

  expected<node_orders> report(std::chrono::milliseconds most = 0ms) {
    auto orders = head.report(says, lab, most);
    if (orders) {
      says.first = false;
      says.server = orders->server;
      says.seen = orders->change;
    }
    return orders;
  }

  /// The first orders that are not none. It waits for less than the head looks again after
  /// by itself: what nobody has woken it for is found out.
  node_orders::order await_order() {
    for (int turn = 0; turn < 300; ++turn) {
      const auto orders = report(100ms);
      REQUIRE(orders);
      if (!orders->orders.empty())
        return orders->orders.front();
    }
    FAIL("nothing is ordered");
    return {};
  }

  std::string token{}; ///< The token of what it holds.

  void hold(const held_entry& e, std::chrono::milliseconds ran = 0ms) {
    says.holds = {
        {.entry = e, .processes = {}, .since = held_since{.ran = ran, .token = token}}};
  }

  void end(const held_entry& e, int wait_status) {
    says.holds.clear();
    says.ended = {{.entry = e, .wait_status = wait_status}};
    REQUIRE(report());
    says.ended.clear();
  }
};

} // namespace

TEST_CASE("queue head: a machine gets an entry, and its end is recorded") {
  const scratch_folder folder;
  const served_queue q(folder.path(), 0);
  played_node rome{*q};
  REQUIRE(rome.report());
  const auto id = q.submit(shell("exit 3"));
  const auto order = rome.await_order();
  CHECK(order.entry == held_entry{.id = id, .start = 1});
  CHECK(order.slots == std::vector<std::string>{"cpu:0"});
  CHECK(q->check_log_of({.id = id, .start = 1}, "rome", lab));
  CHECK_FALSE(q->check_log_of({.id = id, .start = 1}, "bonn", lab));
  CHECK_FALSE(q->check_log_of({.id = id, .start = 2}, "rome", lab));
  CHECK(q->user_of_entry(order.token).value().user == "ann");
  CHECK_FALSE(q->user_of_entry(order.token + "x"));
  CHECK_FALSE(q->user_of_entry("entry-7-" + order.token));
  rome.hold(order.entry);
  REQUIRE(rome.report());
  rome.end(order.entry, 3 << 8);
  const auto ended = q.await_end(id);
  CHECK(ended.state == entry_state::failed);
  CHECK(ended.reason == "ended with status 3");
  CHECK_FALSE(q->user_of_entry(order.token)); // It runs no more.
}

TEST_CASE("queue head: what another process of that machine had is lost") {
  const scratch_folder folder;
  const served_queue q(folder.path(), 0);
  played_node rome{*q};
  REQUIRE(rome.report());
  const auto id = q.submit(shell("true"));
  const auto order = rome.await_order();
  rome.hold(order.entry);
  REQUIRE(rome.report());
  auto again = rome;
  again.says.session = "second";
  again.says.holds.clear();
  const auto refused = again.report();
  REQUIRE_FALSE(refused); // It does not say that it is new.
  CHECK(refused.error().kind == error_kind::conflict);
  again.says.first = true;
  REQUIRE(again.report());
  CHECK_FALSE(rome.report());
  const auto anew = again.await_order();
  CHECK(anew.entry == held_entry{.id = id, .start = 2});
  again.end(order.entry, 0); // The start was lost.
  CHECK(q->look([&](const queue_state& s) { return s.entries.at(id).state; })
        == entry_state::running);
  again.end(anew.entry, 0);
  const auto ended = q.await_end(id);
  CHECK(ended.state == entry_state::succeeded);
  CHECK(ended.losses == 1);
}

TEST_CASE("queue head: a machine that says nothing for the lease is lost") {
  const scratch_folder folder;
  const served_queue q(folder.path(), 0, {}, 50ms);
  played_node rome{*q};
  REQUIRE(rome.report());
  const auto id = q.submit(shell("true"));
  const auto order = rome.await_order();
  const auto lost = q.await(id, [](const queue_entry& e) { return e.losses > 0; });
  CHECK(lost.reason.starts_with("was lost 1 time with rome"));
  CHECK(rome.await_order().entry == held_entry{.id = id, .start = 2});
}

TEST_CASE("queue head: after the server's start a machine goes on with what it has") {
  const scratch_folder folder;
  held_entry had;
  {
    const served_queue q(folder.path(), 0);
    played_node rome{*q};
    REQUIRE(rome.report());
    q.submit(shell("true"));
    had = rome.await_order().entry;
  }
  const served_queue q(folder.path(), 0);
  played_node rome{*q};
  rome.says.first = false;
  SECTION("it lacks it") {
    REQUIRE(rome.report());
    REQUIRE(rome.report());
    CHECK(rome.await_order().entry == held_entry{.id = had.id, .start = 2});
    return;
  }
  SECTION("it has it") {
    rome.hold(had);
  }
  // The first report was made before it began what the former server has ordered.
  SECTION("it began it meanwhile") {}
  REQUIRE(rome.report());
  rome.hold(had);
  REQUIRE(rome.report());
  rome.end(had, 0);
  const auto ended = q.await_end(had.id);
  CHECK(ended.state == entry_state::succeeded);
  CHECK(ended.losses == 0);
}

TEST_CASE(
    "queue head: a machine that leaves is given nothing more, and what it has ends") {
  const scratch_folder folder;
  const served_queue q(folder.path(), 0);
  played_node rome{*q};
  REQUIRE(rome.report());
  const auto id = q.submit(shell("true"));
  const auto order = rome.await_order();
  rome.hold(order.entry);
  rome.says.leaves = true;
  REQUIRE(rome.report());
  q.await(id,
          [](const queue_entry& e) { return e.stopping == stop_cause::machine_left; });
  CHECK(rome.await_order().stopping);
  rome.end(order.entry, 15);
  const auto waits =
      q.await(id, [](const queue_entry& e) { return is_waiting(e.state); });
  CHECK(waits.reason == "rome left");
  CHECK(waits.losses == 0);
}

TEST_CASE(
    "queue head: how long an entry has run its machine says, whatever the clocks say") {
  const scratch_folder folder;
  auto limited = shell("sleep 1000");
  limited.time = 1h;
  held_entry begun;
  {
    const served_queue q(folder.path(), 0);
    played_node rome{*q};
    REQUIRE(rome.report());
    q.submit(limited);
    begun = rome.await_order().entry;
    rome.hold(begun, 59min);
    REQUIRE(rome.report());
  }
  const served_queue q(folder.path(), 0);
  played_node rome{*q};
  rome.says.first = false;
  // It was recorded as begun a moment ago.
  rome.hold(begun, 1h);
  REQUIRE(rome.report());
  const auto e = q.await(begun.id, [](const auto& e) { return e.stopping.has_value(); });
  CHECK(*e.stopping == stop_cause::out_of_time);
}

TEST_CASE(
    "queue head: one that has taken over from another folder hears the tokens of what "
    "runs from its machine") {
  const scratch_folder folder, replica;
  node_orders::order order;
  {
    const served_queue q(folder.path(), 0);
    played_node rome{*q};
    REQUIRE(rome.report());
    q.submit(shell("sleep 1000"));
    order = rome.await_order();
  }
  std::filesystem::copy(folder.path() / queue_file_name, replica.path());
  const served_queue q(replica.path(), 0);
  CHECK(q->user_of_entry(order.token).error().kind == error_kind::conflict);
  played_node rome{*q};
  rome.says.first = false;
  rome.token = order.token;
  rome.hold(order.entry);
  REQUIRE(rome.report());
  CHECK(q->user_of_entry(order.token).value().user == "ann");
  CHECK(rome.await_order().token == order.token);
}

TEST_CASE(
    "queue head: of what is lost only what was alone on a machine that went down may "
    "be the cause") {
  const scratch_folder folder;
  const served_queue q(folder.path(), 0);
  played_node rome{*q};
  rome.says.slots = {{"cpu:0", "cpu"}, {"cpu:1", "cpu"}};
  rome.says.program->machine = "started once";
  REQUIRE(rome.report());
  const auto own_losses = [&](entry_id id) {
    return q->look([&](const queue_state& s) { return s.entries.at(id).own_losses; });
  };
  const auto comes_back = [&](const std::string& session, const std::string& machine) {
    rome.says.first = true;
    rome.says.session = session;
    rome.says.holds.clear();
    rome.says.program->machine = machine;
    REQUIRE(rome.report());
  };
  const auto first = q.submit(shell("sleep 1000"));
  rome.hold(rome.await_order().entry);
  comes_back("second", "started once"); // Somebody killed the worker.
  CHECK(own_losses(first) == 0);
  rome.hold(rome.await_order().entry);
  comes_back("third", "started again");
  CHECK(own_losses(first) == 1);
  q.await_running(first);
  q.await_running(q.submit(shell("sleep 1000")));
  comes_back("fourth", "started a third time");
  CHECK(own_losses(first) == 1);
  CHECK(q->look([&](const queue_state& s) { return s.entries.at(first).losses; }) == 3);
}

TEST_CASE("queue head: what is submitted under a word is there once") {
  const scratch_folder folder;
  const served_queue q(folder.path());
  auto once = shell("true"), other = shell("true", "bob");
  once.once = other.once = "train 3";
  const auto ids = q->submit({once, shell("true"), once, other});
  CHECK(ids == std::vector<entry_id>{1, 2, 1, 3});
  CHECK(q->submit({once}) == std::vector<entry_id>{1});
}

TEST_CASE(
    "queue head: a machine that speaks another protocol is refused, and both are named") {
  const scratch_folder folder;
  const served_queue q(folder.path());
  played_node rome{*q};
  rome.says.program = node_program{.protocol = queue_protocol + 1, .version = "9.9"};
  const auto newer = rome.report();
  REQUIRE_FALSE(newer);
  CHECK(newer.error().kind == error_kind::conflict);
  CHECK_THAT(newer.error().message, Catch::Contains("rome (9.9)"));
  rome.says.program.reset();
  CHECK_FALSE(rome.report());
  CHECK(q->machines().empty());
}

TEST_CASE("queue head: it says of each machine what it knows") {
  const scratch_folder folder;
  const served_queue q(folder.path());
  played_node rome{*q};
  rome.says.program->unix_ms = unix_ms() + 3'600'000;
  REQUIRE(rome.report());
  const auto all = q->machines();
  REQUIRE(all.size() == 1);
  CHECK(all[0].name == "rome");
  CHECK(all[0].version == "0.1.0");
  CHECK(all[0].slots == 1);
  CHECK(all[0].clock_ahead > 59min);
  CHECK(all[0].state == machine_state::there);
  rome.says.leaves = true;
  REQUIRE(rome.report());
  CHECK(q->machines().empty());
}

TEST_CASE(
    "queue head: a machine is its worker's, also for the next server, until it goes") {
  const scratch_folder folder;
  held_entry had;
  {
    const served_queue q(folder.path(), 0);
    played_node rome{*q};
    REQUIRE(rome.report());
    q.submit(shell("true"));
    had = rome.await_order().entry;
  }
  const served_queue q(folder.path(), 0);
  played_node rome{*q};
  // Nobody has reported to this server.
  CHECK(q->check_log_of(had, "rome", lab));
  CHECK(q->check_log_of(had, "rome", admin));
  CHECK(q->check_log_of(had, "rome", stranger).error().kind == error_kind::conflict);
  auto other = rome.says;
  other.session = "other";
  CHECK(q->report(other, stranger, 0ms).error()
        == error{error_kind::conflict,
                 "rome is a machine of lab's; give this one a --name of its own"});
  rome.says.first = false;
  rome.hold(had);
  REQUIRE(rome.report());
  rome.end(had, 0);
  CHECK(q.await_end(had.id).losses == 0);
  CHECK_FALSE(q->report(other, stranger, 0ms));
  rome.says.leaves = true;
  REQUIRE(rome.report());
  CHECK(q->report(other, stranger, 0ms));
}

TEST_CASE("queue head: whose machine it was is not known of a queue from before") {
  const scratch_folder folder;
  const held_entry had{.id = 1, .start = 1};
  {
    auto store = queue_store::open(folder.path() / queue_file_name);
    REQUIRE(store);
    const std::vector<queue_event> before{
        entry_submitted{.id = 1, .what = shell("true")},
        entry_started{.id = 1, .slots = {"cpu:0@rome"}}};
    REQUIRE(store->append(before));
  }
  const served_queue q(folder.path(), 0);
  played_node rome{*q};
  rome.says.first = false;
  // The machine sends its log again where that was no refusal.
  CHECK(q->check_log_of(had, "rome", lab).error().kind == error_kind::io);
  CHECK(q->check_log_of(had, "rome", stranger).error().kind == error_kind::io);
  rome.hold(had);
  REQUIRE(rome.report());
  CHECK(q->check_log_of(had, "rome", lab));
  CHECK(q->check_log_of(had, "rome", stranger).error().kind == error_kind::conflict);
}
