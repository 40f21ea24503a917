// Nodes that come, come back, fall silent and leave.
#include "tests/actors/head/dispatcher_fixture.hpp"

using namespace clade;
using namespace clade::test;

TEST_CASE("dispatcher: a slot's new process says at once that the former one is dead") {
  fixture f;
  const auto first = f.join(41);
  f.submit(1);
  REQUIRE(first.was->assignments.size() == 1);
  f.cut(first);
  CHECK(f.attempts() == 0);
  const auto second = f.join(42);
  CHECK(f.attempts() == 1);
  CHECK(second.was->assignments.size() == 1);
}

TEST_CASE("dispatcher: what a worker says of a slot's former process is evidence") {
  fixture f;
  const former_process fault{41, true, "killed by signal 11 (Segmentation fault)"};
  auto first = f.join(41);
  f.submit(1);
  f.cut(first);
  auto second = first;
  second.hello.session = 42;
  SECTION("of one that came to an end meanwhile") {
    second.hello.former = {fault};
    f.connect(second);
    REQUIRE(f.attempts() == 1);
    const auto& lost = std::get<attempt_failed>(f.told->observations.at(2));
    CHECK(lost.reason
          == "its node process ended: killed by signal 11 (Segmentation fault)");
  }
  SECTION("and of one that was lost before") {
    f.system.pass(4s);
    REQUIRE(f.attempts() == 1);
    second.hello.former = {fault};
    f.connect(second);
    CHECK(f.attempts() == 1);
  }
  CHECK(f.told->evaluations.empty());
  caf::anon_send(f.dispatcher, node_ready{.node = second.id});
  f.system.settle();
  REQUIRE(second.was->assignments.size() == 1);
  f.cut(second);
  auto third = second;
  third.hello.session = 43;
  third.hello.former = {fault, {42, true, "killed by signal 6 (Aborted)"}};
  f.connect(third);
  REQUIRE(f.told->evaluations.size() == 1);
  CHECK(f.told->evaluations[0].outcome == outcome::crashed);
  CHECK(f.told->evaluations[0].tries == 2);
  CHECK(f.told->evaluations[0].reason
        == "two node processes ended while they trained it, the last killed by signal 6 "
           "(Aborted)");
}

TEST_CASE("dispatcher: processes that are killed from outside are held against nobody") {
  fixture f;
  auto n = f.join(41);
  f.submit(1);
  for (std::uint64_t session = 42; session < 44; ++session) {
    REQUIRE(n.was->assignments.size() == 1);
    f.cut(n);
    n.hello.former = {{session - 1, false, "killed by signal 9 (Killed)"}};
    n.hello.session = session;
    f.connect(n);
    caf::anon_send(f.dispatcher, node_ready{.node = n.id});
    f.system.settle();
  }
  CHECK(f.attempts() == 2);
  CHECK(f.told->evaluations.empty());
  f.answer(n, n.was->assignments.at(0));
  REQUIRE(f.told->evaluations.size() == 1);
  CHECK(f.told->evaluations[0].tries == 3);
}

TEST_CASE(
    "dispatcher: a node that was only silent is not convicted of what it had then") {
  fixture f;
  auto n = f.join(41);
  f.submit(1);
  f.system.pass(11s); // Its lease.
  REQUIRE(f.attempts() == 1);
  n.hello.run = this_run;
  n.hello.ready = true;
  f.connect(n); // It waits, so it has it again, or another has.
  const auto other = f.join(50, 2);
  f.cut(n);
  n.hello.former = {{41, true, "killed by signal 11 (Segmentation fault)"}};
  n.hello.session = 44;
  n.hello.ready = false;
  f.connect(n);
  CHECK(f.told->evaluations.empty());
}

TEST_CASE("dispatcher: a short lease wants nodes to be heard more often") {
  fixture patient, hasty(1s);
  fixture::node n{.hello = {.slot = "cpu:0", .worker = 1, .session = 1}}, other = n;
  CHECK(patient.connect(n).heartbeat_ms == 1000);
  CHECK(hasty.connect(other).heartbeat_ms == 250);
}

TEST_CASE("dispatcher: a slot of the same name of another worker is another slot") {
  fixture f;
  const auto first = f.join(41, 1);
  f.submit(1);
  const auto second = f.join(42, 2);
  CHECK(f.attempts() == 0);
  CHECK(second.was->assignments.empty());
}

TEST_CASE("dispatcher: a node that comes back in time goes on with what it has") {
  fixture f;
  auto n = f.join();
  auto other = f.join();
  f.submit(1);
  auto& has = n.was->assignments.size() == 1 ? n : other;
  const auto a = has.was->assignments.at(0);
  f.cut(has);
  f.system.pass(2s);
  has.hello.run = this_run;
  has.hello.ready = true;
  has.hello.has = {{.id = a.id, .lease = a.lease}};
  const auto before = has.id;
  const auto welcome = f.connect(has);
  CHECK(has.id == before);
  CHECK(welcome.ready);
  REQUIRE(welcome.keep.size() == 1);
  CHECK(welcome.keep[0].lease == a.lease);
  CHECK(f.answer(has, a).ids == std::vector<task_id>{1});
  CHECK(f.told->evaluations.size() == 1);
  CHECK(f.attempts() == 0);
}

TEST_CASE("dispatcher: an assignment that was lost on the way is made again") {
  fixture f;
  auto n = f.join();
  f.submit(1);
  REQUIRE(n.was->assignments.size() == 1);
  f.cut(n);
  n.hello.run = this_run;
  n.hello.ready = true;
  CHECK(f.connect(n).keep.empty());
  REQUIRE(n.was->assignments.size() == 1);
  f.answer(n, n.was->assignments[0]);
  REQUIRE(f.told->evaluations.size() == 1);
  CHECK(f.told->evaluations[0].tries == 1);
}

TEST_CASE("dispatcher: a node that falls silent loses its lease and learns it") {
  fixture f;
  auto silent = f.join();
  f.submit(1);
  const auto assigned = silent.was->assignments.at(0);
  const auto other = f.join();
  for (int i = 0; i < 12; ++i) {
    CHECK(f.ask<heartbeat_answer>(heartbeat{other.id}).known);
    f.system.pass(1s);
  }
  REQUIRE(other.was->assignments.size() == 1);
  CHECK_FALSE(f.ask<heartbeat_answer>(heartbeat{silent.id}).known);
  CHECK(f.answer(silent, assigned).ids.empty());
  CHECK(f.told->evaluations.empty());
  // It comes back with a result that nobody waits for.
  silent.hello.run = this_run;
  silent.hello.ready = true;
  silent.hello.has = {{.id = assigned.id, .lease = assigned.lease}};
  CHECK(f.connect(silent).keep.empty());
  f.answer(other, other.was->assignments[0]);
  CHECK(f.told->evaluations.size() == 1);
}

TEST_CASE("dispatcher: after a head was killed its nodes bring what they have") {
  fixture f;
  f.submit(1);
  f.submit(2);
  fixture::node n{.hello = {.slot = "cpu:0",
                            .worker = 1,
                            .session = 9,
                            .run = this_run,
                            .ready = true,
                            .has = {{.id = 1, .lease = 4}, {.id = 8, .lease = 5}}}};
  const auto welcome = f.connect(n);
  REQUIRE(welcome.keep.size() == 1); // 8 has an evaluation already.
  CHECK(welcome.keep[0].id == 1);
  const assignment adopted{.id = 1, .lease = welcome.keep[0].lease};
  CHECK(f.answer(n, adopted).ids == std::vector<task_id>{1});
  CHECK(f.told->evaluations.size() == 1);
}

TEST_CASE("dispatcher: nodes are welcome only when the selector has submitted") {
  test::test_system system;
  auto told = std::make_shared<heard>();
  auto was = std::make_shared<given>();
  const auto dispatcher = system->spawn(dispatcher_behavior, dispatcher_params{});
  const auto link = system->spawn(stub_link, was);
  caf::scoped_actor self(*system);
  auto asked = self->request(dispatcher, caf::infinite, node_hello{.session = 1}, link);
  system.settle();
  CHECK(self->mailbox().empty());
  caf::anon_send(dispatcher, selector_actor(system->spawn(stub_selector, told)));
  system.settle();
  bool welcome = false;
  asked.receive([&](const node_welcome&) { welcome = true; }, [](caf::error&) {});
  CHECK(welcome);
  caf::anon_send_exit(dispatcher, caf::exit_reason::user_shutdown);
  system.settle();
}

TEST_CASE("dispatcher: a node of another run is not taken for one of this") {
  fixture f;
  fixture::node n{.hello = {.slot = "cpu:0", .session = 9, .run = 78, .ready = true}};
  const auto welcome = f.connect(n);
  CHECK(welcome.run == this_run);
  CHECK(welcome.node == 0);
  f.submit(1);
  CHECK(n.was->assignments.empty());
}

TEST_CASE("dispatcher: a node that drains hands back what it has not begun") {
  fixture f;
  const auto n = f.join();
  f.submit(1);
  f.submit(2);
  REQUIRE(n.was->assignments.size() == 1);
  f.ask<may_leave>(leaving{.node = n.id, .not_done = {1}});
  const auto other = f.join();
  REQUIRE(other.was->assignments.size() == 1);
  CHECK(other.was->assignments[0].id == 1);
  CHECK(n.was->assignments.size() == 1);
  f.cut(n);
  CHECK(f.attempts() == 0);
  CHECK(f.ask<slots_view>(slots_query{}).slots.size() == 1);
}

TEST_CASE(
    "dispatcher: a run that leaves waits for its own nodes to hand back, for no others") {
  fixture f;
  const auto own = f.join(0, local_worker);
  f.submit(1);
  const auto other = f.join(0, local_worker + 1);
  f.submit(2);
  f.submit(3);
  REQUIRE(other.was->assignments.size() == 1);
  const auto at_once = f.ask<withdrawn>(withdraw{.hands_back = true});
  CHECK(at_once.ids == std::vector<candidate_id>{2, 3});
  f.ask<may_leave>(leaving{.node = own.id, .not_done = {1}});
  CHECK(f.told->withdrawn_ids == std::vector<candidate_id>{1});
  // Nobody gets it, and what the other machine ends in time counts.
  CHECK(other.was->assignments.size() == 1);
  f.answer(other, other.was->assignments.at(0));
  CHECK(f.told->evaluations.size() == 1);
}

TEST_CASE("dispatcher: a local node that cannot prepare itself fails the run") {
  fixture f;
  fixture::node n{.hello = {.slot = "cpu:0", .worker = local_worker, .session = 9}};
  f.connect(n);
  caf::anon_send(f.dispatcher, node_ready{.node = n.id, .failure = "no data"});
  f.system.settle();
  REQUIRE(f.told->failures.size() == 1);
  CHECK(f.told->failures[0].message == "no data");
}

TEST_CASE("dispatcher: one of another machine is sent away and the run goes on") {
  fixture f;
  fixture::node n{.hello = {.slot = "box/cpu:0", .worker = 6, .session = 9}};
  f.connect(n);
  caf::anon_send(f.dispatcher, node_ready{.node = n.id, .failure = "no LibTorch"});
  f.system.settle();
  CHECK(f.told->failures.empty());
  CHECK(n.was->dismissed == "it cannot train");
  CHECK(f.said == std::vector<std::string>{"box/cpu:0 cannot train: no LibTorch"});
}

TEST_CASE("dispatcher: what a node is given does not overtake its welcome") {
  test::test_system system;
  auto told = std::make_shared<heard>();
  const auto dispatcher = system->spawn(dispatcher_behavior, dispatcher_params{.run = 1});
  caf::anon_send(dispatcher, selector_actor(system->spawn(stub_selector, told)));
  submission message;
  random_stream random({.seed = 1});
  message.candidates.push_back({.id = 1});
  message.candidates[0].genome =
      std::make_shared<const genome>(sample_genome(test::small_grammar(), random));
  caf::anon_send(dispatcher, message);
  system.settle();
  // One that is ready already, and whose link is whoever asks.
  caf::scoped_actor self(*system);
  self->send(dispatcher, node_hello{.session = 9, .run = 1, .ready = true},
             caf::actor_cast<link_actor>(self));
  system.settle();
  std::vector<std::string> order;
  while (!self->mailbox().empty() && order.size() < 2)
    self->receive([&](const node_welcome&) { order.emplace_back("welcome"); },
                  [&](const assignments&) { order.emplace_back("assignments"); });
  CHECK(order == std::vector<std::string>{"welcome", "assignments"});
  caf::anon_send_exit(dispatcher, caf::exit_reason::user_shutdown);
  system.settle();
}

namespace {

fixture::node come(fixture& f, const char* slot, std::uint64_t session,
                   std::uint64_t rounding) {
  fixture::node n{.hello = {.slot = slot, .worker = session, .session = session}};
  f.connect(n);
  caf::anon_send(f.dispatcher, node_ready{.node = n.id, .rounding = rounding});
  f.system.settle();
  return n;
}

} // namespace

TEST_CASE("dispatcher: slots that round otherwise are marked, or may not join") {
  const bool portable = GENERATE(false, true);
  fixture f(10s, 0, portable);
  const auto joined = [&] {
    std::vector<std::optional<std::uint64_t>> all;
    for (const auto& o : f.told->observations)
      if (const auto* s = std::get_if<slot_changed>(&o); s != nullptr && s->joined)
        all.push_back(s->rounding);
    return all;
  };
  come(f, "cpu:0", 1, 0); // It has none.
  come(f, "cpu:1", 2, 7);
  come(f, "cpu:2", 3, 7);
  CHECK(joined() == std::vector<std::optional<std::uint64_t>>{std::nullopt, 7, 7});
  const auto said = f.said.size();
  const auto other = come(f, "far/cpu:0", 4, 8);
  REQUIRE(f.said.size() > said);
  CHECK_THAT(f.said.back(), Catch::Contains("rounds otherwise than cpu:1"));
  CHECK(joined().size() == (portable ? 3 : 4));
  CHECK(other.was->dismissed == (portable ? "it cannot train" : ""));
}

TEST_CASE("dispatcher: slots that share trainings are of one kind of device") {
  fixture f(10s, 2);
  come(f, "cpu:0", 1, 7);
  const auto other = come(f, "far/cuda:0", 2, 8);
  CHECK_THAT(f.said.back(),
             Catch::Contains("of one kind of device, and cpu:0 is of another"));
  CHECK(other.was->dismissed == "it cannot train");
}
