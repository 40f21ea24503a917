#include "tests/engine/queue/queue_fixture.hpp"

using namespace clade;
using namespace clade::test;
using namespace std::chrono_literals;
using ids = std::vector<entry_id>;

namespace {

queue_submission of(const std::string& user, queue_submission what) {
  what.user = user;
  return what;
}

} // namespace

TEST_CASE("next entries: a higher priority comes first, of equal ones the first") {
  queue_fixture q(2);
  q.submit(a_run(0));
  q.submit(a_run(3));
  q.submit(a_run(3));
  CHECK(q.step() == ids{2, 3});
}

TEST_CASE("next entries: users share what there is, however much one submits first") {
  queue_fixture q(4);
  for (int i = 0; i < 6; ++i)
    q.submit(of("ann", a_command()));
  q.submit(of("bob", a_command()));
  q.submit(of("bob", a_command()));
  CHECK(q.step() == ids{1, 7, 2, 8});
}

TEST_CASE("next entries: who used less of late is next, until that is long ago") {
  queue_fixture q(1);
  q.submit(of("ann", a_command()));
  q.step();
  q.pass(1h);
  q.finish(1);
  q.submit(of("ann", a_command()));
  q.submit(of("bob", a_command()));
  CHECK(q.step() == ids{3});
  q.pass(2h);
  q.finish(3);
  q.submit(of("bob", a_command()));
  CHECK(q.step() == ids{2});
}

TEST_CASE("next entries: use halves in its half-life") {
  const decayed_use use{.slot_seconds = 100, .at_ms = 0};
  CHECK(use_at(use, 60s, 0) == 100);
  CHECK(use_at(use, 60s, 60'000) == Approx(50));
  CHECK(use_at(use, 60s, 120'000) == Approx(25));
  queue_entry e{.what = a_command(2), .started_ms = 0};
  CHECK(use_of_running(e, 1h, 1'000) == Approx(2).epsilon(1e-3));
  CHECK(use_of_running(e, 60s, 1'000'000'000) == Approx(2 * 60 / 0.6931471805599453));
}

TEST_CASE("next entries: nobody has more slots than their quota") {
  queue_fixture q(4);
  q.rules.quota = 2;
  q.rules.quotas["bob"] = 1;
  for (int i = 0; i < 3; ++i) {
    q.submit(of("ann", a_command()));
    q.submit(of("bob", a_command()));
  }
  CHECK(q.step() == ids{1, 2, 3});
  CHECK(why_waiting(q.state, q.rules, q.slots, 4) == "bob may have 1 slot and has 1");
}

TEST_CASE("next entries: who submits is told what cannot begin as things are") {
  queue_fixture q(2);
  q.rules.quotas["ann"] = 1;
  q.submit(of("ann", a_command()));
  q.step();
  q.submit(of("ann", a_command()));
  const auto note = [&](entry_id id, entry_id by = 0) {
    return note_on(q.state, q.rules, q.slots, id, by);
  };
  CHECK(note(2).empty());
  CHECK(
      note(2, 1)
      == "#2 begins when #1 has ended, which submits it: ann may have 1 slot at a time; "
         "if #1 waits for it, both wait for ever");
  q.submit(of("bob", a_command(3)));
  CHECK(note(3)
        == "#3 wants 3 slots, and no machine that is there has more than 2: it waits for "
           "one that has");
}

TEST_CASE(
    "next entries: what has run for how long is told by another clock than the wall's") {
  queue_fixture q(2);
  q.submit(a_command(1, 100s));
  q.step();
  q.submit(a_command(2));
  q.submit(a_command(1, 50s));
  // The wall's clock was set back since, so that it seems to have just begun.
  CHECK(find_next(q.state, q.rules, q.slots, q.now_ms).starts.front().id == 3);
  CHECK(find_next(q.state, q.rules, q.slots, q.now_ms, {{1, 60s}}).starts.empty());
}

TEST_CASE("next entries: a gang gets its slots at once, of the kind that it wants") {
  queue_fixture q(2, 2);
  auto gang = a_run(0, 2);
  gang.device = "cuda";
  q.submit(gang);
  q.step();
  CHECK(q.state.entries.at(1).slots == std::vector<std::string>{"cuda:0", "cuda:1"});
  q.submit(gang);
  q.submit(a_command());
  CHECK(q.step() == ids{3});
  CHECK(why_waiting(q.state, q.rules, q.slots, 2) == "waits for 2 cuda slots");
}

TEST_CASE("next entries: slots are kept for a gang, and short entries use them") {
  queue_fixture q(3);
  q.submit(a_command(1, 100s));
  q.submit(a_command(1, 50s));
  q.step();
  q.submit(a_command(3));
  q.submit(a_command());
  q.submit(a_command(1, 101s));
  q.submit(a_command(1, 90s));
  CHECK(q.step() == ids{6});
  q.pass(50s);
  q.finish(2);
  CHECK(q.step().empty()); // 101 s are too long now as well.
  q.pass(50s);
  q.finish(1);
  q.finish(6);
  CHECK(q.step() == ids{3});
}

TEST_CASE("next entries: what a gang does not need then may be taken for any time") {
  queue_fixture q(4);
  q.submit(a_command(2, 100s));
  q.step();
  q.submit(a_command(3));
  q.submit(a_command());
  q.submit(a_command());
  CHECK(q.step() == ids{3});
}

TEST_CASE("next entries: nothing passes a gang whose turn nobody can tell") {
  queue_fixture q(3);
  q.submit(a_command(2));
  q.step();
  q.submit(a_command(2));
  q.submit(a_command(1, 1s));
  CHECK(q.step().empty());
}

TEST_CASE("next entries: a gang that is too large for the machine lets others pass") {
  queue_fixture q(2);
  q.submit(a_command(3));
  q.submit(a_command());
  CHECK(q.step() == ids{2});
  CHECK(why_waiting(q.state, q.rules, q.slots, 1)
        == "wants 3 slots, and no machine that is there has more than 2");
  q.slots.all.clear();
  CHECK(why_waiting(q.state, q.rules, q.slots, 1) == "waits for a machine with 3 slots");
}

TEST_CASE(
    "next entries: a lower priority makes room, the latest first, as much as needed") {
  queue_fixture q(3);
  q.submit(a_run(1));
  q.step();
  q.pass(1s);
  q.submit(a_run(0));
  q.step();
  q.pass(1s);
  q.submit(a_run(0));
  q.step();
  q.submit(a_run(5));
  const auto next = find_next(q.state, q.rules, q.slots, q.now_ms);
  CHECK(next.stops == std::vector<next_entries::stop>{{.id = 3, .for_the_sake_of = 4}});
  q.step();
  // It is about to end: nobody else needs to.
  CHECK(find_next(q.state, q.rules, q.slots, q.now_ms) == next_entries{});
  q.finish(3);
  CHECK(q.state_of(3) == entry_state::preempted);
  CHECK(q.step() == ids{4});
  q.finish(4);
  CHECK(q.step() == ids{3});
  CHECK(q.state.entries.at(3).starts == 2);
}

TEST_CASE("next entries: a command makes no room, unless it said so") {
  queue_fixture q(1);
  q.submit(a_command());
  q.step();
  q.submit(a_run(9));
  CHECK(find_next(q.state, q.rules, q.slots, q.now_ms).stops.empty());
  queue_fixture r(1);
  auto again = a_command();
  again.requeue = true;
  r.submit(again);
  r.step();
  r.submit(a_run(9));
  CHECK(find_next(r.state, r.rules, r.slots, r.now_ms).stops.size() == 1);
}

TEST_CASE("next entries: nobody is stopped where that is not enough") {
  queue_fixture q(3);
  q.submit(a_command(2));
  q.submit(a_run(0));
  q.step();
  q.submit(a_run(9, 2));
  CHECK(find_next(q.state, q.rules, q.slots, q.now_ms).stops.empty());
}

TEST_CASE("next entries: an equal priority makes no room") {
  queue_fixture q(1);
  q.submit(a_run(2));
  q.step();
  q.submit(a_run(2));
  CHECK(find_next(q.state, q.rules, q.slots, q.now_ms) == next_entries{});
}

TEST_CASE("next entries: an entry gets slots of one machine, where the fewest are left") {
  queue_fixture q(2);
  q.add_machine("rome", 3);
  q.submit(a_command(3));
  q.submit(a_command(4));
  CHECK(q.step() == ids{1});
  CHECK(machine_of(q.state.entries.at(1).slots.front()) == "rome");
  CHECK(why_waiting(q.state, q.rules, q.slots, 2)
        == "wants 4 slots, and no machine that is there has more than 3");
  q.finish(1);
  q.submit(a_command(2));
  CHECK(q.step() == ids{3});
  CHECK(q.state.entries.at(3).slots == std::vector<std::string>{"cpu:0", "cpu:1"});
}

TEST_CASE("next entries: a gang is waited for where it can begin first") {
  queue_fixture q(2);
  q.add_machine("rome", 2);
  q.submit(a_command(1, 10s));
  q.submit(a_command(1, 100s));
  q.submit(a_command(1, 100s));
  q.submit(a_command(1, 20s));
  CHECK(q.step().size() == 4);
  // Two are on each machine: those of rome end after 100 s and 20 s.
  REQUIRE(machine_of(q.state.entries.at(3).slots.front()) == "rome");
  const auto gang = q.submit(a_command(2, 10s));
  q.finish(4);
  q.finish(2);
  // One slot of both machines is free; that of #1 has its other one sooner.
  const auto single = q.submit(a_command());
  CHECK(q.step() == ids{single});
  CHECK(machine_of(q.state.entries.at(single).slots.front()) == "rome");
  q.finish(1);
  CHECK(q.step() == ids{gang});
  CHECK(q.state.entries.at(gang).slots == std::vector<std::string>{"cpu:0", "cpu:1"});
}

TEST_CASE("next entries: a run goes on where it has begun, while that machine is there") {
  queue_fixture q(1);
  q.add_machine("rome", 2);
  const auto run = q.submit(a_run(0, 2));
  CHECK(q.step() == ids{run});
  REQUIRE(q.tell(entry_lost{run}));
  CHECK(q.state.entries.at(run).reason == "was lost 1 time with rome");
  SECTION("it is there") {
    q.add_machine("bonn", 2);
    CHECK(q.step() == ids{run});
    CHECK(machine_of(q.state.entries.at(run).slots.front()) == "rome");
  }
  SECTION("it may come back") {
    q.remove_machine("rome");
    q.add_machine("bonn", 2);
    q.slots.awaited = {"rome"};
    CHECK(q.step().empty());
    q.slots.awaited.clear();
    CHECK(q.step() == ids{run});
    CHECK(machine_of(q.state.entries.at(run).slots.front()) == "bonn");
  }
}

TEST_CASE("next entries: a user's word is taken once") {
  queue_fixture q(1);
  auto what = a_command();
  what.user = "ann";
  what.once = "train 3";
  q.submit(what);
  CHECK_FALSE(q.tell(entry_submitted{.id = 2, .what = what}));
  what.user = "bob";
  q.submit(what);
}
