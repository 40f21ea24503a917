#include "actors/dispatcher.hpp"
#include "actors/trainer.hpp"
#include "genome/codec.hpp"
#include "genome/mutation.hpp"
#include "tests/actors/test_system.hpp"
#include "tests/support/genomes.hpp"

#include <catch2/catch.hpp>

using namespace clade;
using namespace std::chrono_literals;

namespace {

/// What the selector was told.
struct heard {
  std::vector<evaluation> evaluations;
  std::vector<record> observations;
  std::vector<error> failures;
};

selector_actor::behavior_type stub_selector(selector_actor::pointer,
                                            std::shared_ptr<heard> h) {
  return {
      [h](const evaluations& e) {
        for (const auto& done : e.batch)
          h->evaluations.push_back(done.evaluation);
      },
      [h](const observation& o) { h->observations.push_back(o.record); },
      [h](const run_failure& f) { h->failures.push_back(f.why); },
      [](const stop_run&) {},
      [](const told&) { return std::string(); },
      [](const progress_query&) { return run_progress{}; },
  };
}

/// What a node was given.
struct given {
  std::vector<assignment> assignments;
  std::vector<std::uint64_t> forgets;
  std::string dismissed;
};

link_actor::behavior_type stub_link(link_actor::pointer, std::shared_ptr<given> g) {
  return {
      [g](const assignments& a) {
        g->assignments.insert(g->assignments.end(), a.batch.begin(), a.batch.end());
      },
      [](const examine&) {
        return examined{"no such data", {}};
      },
      [g](const leave& l) { g->dismissed = l.reason; },
      [](const node_ready&) {},
      [](const results&) {},
      [](const epoch_passed&) {},
      [](const leaving&) {},
      [](const fetch_chunk&) {
        return chunk{"none", {}};
      },
      [g](const taken& t) {
        g->forgets.insert(g->forgets.end(), t.ids.begin(), t.ids.end());
      },
      [](tick) {},
  };
}

constexpr std::uint64_t this_run = 77;
constexpr std::uint64_t local_worker = 5;

struct fixture {
  test::test_system system;
  std::shared_ptr<heard> told = std::make_shared<heard>();
  std::vector<std::string> said;
  selector_actor selector = system->spawn(stub_selector, told);
  dispatcher_actor dispatcher =
      system->spawn(dispatcher_behavior,
                    dispatcher_params{.schedule = {.lease = 10s, .closed_lease = 3s},
                                      .run = this_run,
                                      .experiment = "e",
                                      .local_worker = local_worker,
                                      .say = [this](const std::string& line) {
                                        said.push_back(line);
                                      }});

  /// A node, and its present connection.
  struct node {
    node_hello hello;
    link_actor link;
    std::shared_ptr<given> was;
    std::uint64_t id = 0;
  };

  fixture() { caf::anon_send(dispatcher, selector); }

  ~fixture() {
    caf::anon_send_exit(dispatcher, caf::exit_reason::user_shutdown);
    system.settle();
  }

  /// What the dispatcher answers to a request.
  template<class Answer, class... Request>
  Answer ask(const Request&... request) {
    Answer answer;
    caf::scoped_actor self(*system);
    auto asked = self->request(dispatcher, caf::infinite, request...);
    system.settle();
    asked.receive([&](const Answer& a) { answer = a; },
                  [](caf::error&) { FAIL("no answer"); });
    return answer;
  }

  /// Connects, or connects again.
  node_welcome connect(node& n) {
    n.was = std::make_shared<given>();
    n.link = system->spawn(stub_link, n.was);
    const auto welcome = ask<node_welcome>(n.hello, n.link);
    n.id = welcome.node;
    return welcome;
  }

  node join(std::uint64_t session = 0, std::uint64_t worker = 1) {
    static std::uint64_t sessions = 100;
    node n{.hello = {.slot = "cpu:0",
                     .worker = worker,
                     .session = session != 0 ? session : ++sessions}};
    // A slot of its own, unless the test says otherwise.
    if (session == 0)
      n.hello.slot = "cpu:" + std::to_string(sessions);
    REQUIRE(connect(n).experiment == "e");
    caf::anon_send(dispatcher, node_ready{.node = n.id});
    system.settle();
    return n;
  }

  void submit(candidate_id id) {
    random_stream random({.seed = id});
    candidate c{.id = id};
    c.genome =
        std::make_shared<const genome>(sample_genome(test::small_grammar(), random));
    submission message;
    message.candidates.push_back(c);
    caf::anon_send(dispatcher, message);
    system.settle();
  }

  taken answer(const node& n, const assignment& a) {
    evaluation e{.id = a.id};
    e.seconds = 1;
    results message{.node = n.id, .batch = {}};
    message.batch.push_back(result_of({e, {}}, a.lease));
    return ask<taken>(message);
  }

  /// Its connection is no more.
  void cut(const node& n) {
    caf::anon_send_exit(n.link, caf::exit_reason::kill);
    system.settle();
  }

  /// Its process is no more, and does not come back.
  void kill(const node& n) {
    cut(n);
    system.pass(4s);
  }

  std::size_t attempts() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(told->observations, [](const record& r) {
          return std::holds_alternative<attempt_failed>(r);
        }));
  }
};

} // namespace

TEST_CASE("dispatcher: a candidate goes to a node and its result to the selector") {
  fixture f;
  const auto n = f.join();
  f.submit(1);
  REQUIRE(n.was->assignments.size() == 1);
  f.answer(n, n.was->assignments[0]);
  REQUIRE(f.told->evaluations.size() == 1);
  CHECK(f.told->evaluations[0].id == 1);
  CHECK(f.told->evaluations[0].slot == n.hello.slot);
  CHECK(f.told->evaluations[0].tries == 1);
}

TEST_CASE("dispatcher: a candidate is handed out again when its node is lost") {
  fixture f;
  const auto first = f.join();
  f.submit(1);
  const auto second = f.join();
  f.kill(first);
  f.ask<heartbeat_answer>(heartbeat{second.id});
  f.system.pass(1s);
  REQUIRE(second.was->assignments.size() == 1);
  CHECK(second.was->assignments[0].id == 1);
  f.answer(second, second.was->assignments[0]);
  REQUIRE(f.told->evaluations.size() == 1);
  CHECK(f.told->evaluations[0].tries == 2);
  CHECK(f.attempts() == 1);
}

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

TEST_CASE("dispatcher: a slot of the same name of another worker is another slot") {
  fixture f;
  const auto first = f.join(41, 1);
  f.submit(1);
  const auto second = f.join(42, 2);
  CHECK(f.attempts() == 0);
  CHECK(second.was->assignments.empty());
}

TEST_CASE(
    "dispatcher: a candidate that kills two nodes is an evaluation with that outcome") {
  fixture f;
  const auto first = f.join(41);
  f.submit(1);
  const auto second = f.join(42);
  const auto third = f.join(43);
  REQUIRE(f.told->evaluations.size() == 1);
  CHECK(f.told->evaluations[0].outcome == outcome::crashed);
  CHECK(third.was->assignments.empty());
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
  CHECK(f.answer(has, a).ids == std::vector<std::uint64_t>{1});
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
  CHECK(f.answer(n, adopted).ids == std::vector<std::uint64_t>{1});
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

TEST_CASE("dispatcher: bytes that are no evaluation change nothing") {
  fixture f;
  const auto n = f.join();
  f.submit(1);
  const auto a = n.was->assignments.at(0);
  results garbage{.node = n.id, .batch = {}};
  garbage.batch.push_back(
      {.id = a.id, .lease = a.lease, .evaluation = "garbage", .weights = {}});
  caf::anon_send(f.dispatcher, garbage);
  f.system.settle();
  CHECK(f.told->evaluations.empty());
  f.answer(n, a);
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

TEST_CASE("dispatcher: nothing is handed out while it is held") {
  fixture f;
  caf::anon_send(f.dispatcher, hold{true});
  f.submit(1);
  const auto n = f.join();
  CHECK(n.was->assignments.empty());
  caf::anon_send(f.dispatcher, hold{false});
  f.system.settle();
  CHECK(n.was->assignments.size() == 1);
}

TEST_CASE("dispatcher: a dropped candidate is an evaluation and its node forgets it") {
  fixture f;
  f.submit(1);
  f.submit(2);
  const auto n = f.join();
  REQUIRE(n.was->assignments.size() == 1);
  const auto id = n.was->assignments.front().id;
  caf::anon_send(f.dispatcher, drop_candidate{id, "ada"});
  caf::anon_send(f.dispatcher, drop_candidate{id, "ada"});
  f.system.settle();
  REQUIRE(f.told->evaluations.size() == 1);
  CHECK(f.told->evaluations[0].outcome == outcome::dropped);
  CHECK(f.told->evaluations[0].reason == "dropped by ada");
  CHECK(n.was->forgets == std::vector<std::uint64_t>{id});
  // Its slot goes on with the next, and a result that comes all the same is ignored.
  CHECK(n.was->assignments.size() == 2);
}

TEST_CASE("dispatcher: what no node has can be withdrawn") {
  fixture f;
  const auto n = f.join();
  f.submit(1);
  f.submit(2);
  caf::scoped_actor self(*f.system);
  auto request = self->request(f.dispatcher, caf::infinite, withdraw{});
  f.system.settle();
  request.receive(
      [](const withdrawn& w) { CHECK(w.ids == std::vector<candidate_id>{2}); },
      [](caf::error&) { FAIL("no answer"); });
  f.answer(n, n.was->assignments.at(0));
  CHECK(f.told->evaluations.size() == 1);
  CHECK(n.was->assignments.size() == 1);
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

TEST_CASE("dispatcher: an examination whose node is lost is made elsewhere") {
  fixture f;
  fixture::node mute{.hello = {.slot = "cpu:0", .worker = 1, .session = 50}};
  f.connect(mute);
  // Its link takes the request and never answers.
  const auto silent = f.system->spawn([](caf::event_based_actor* self) -> caf::behavior {
    self->set_default_handler(caf::skip);
    return {[](caf::unit_t) {}};
  });
  mute.link = caf::actor_cast<link_actor>(silent);
  REQUIRE(f.ask<node_welcome>(mute.hello, mute.link).node == mute.id);
  caf::anon_send(f.dispatcher, node_ready{.node = mute.id});
  f.system.settle();
  caf::scoped_actor self(*f.system);
  auto asked = self->request(f.dispatcher, caf::infinite, examine{.subject = "champion"});
  f.system.settle();
  const auto other = f.join();
  CHECK(self->mailbox().empty());
  f.cut(mute);
  f.ask<heartbeat_answer>(heartbeat{other.id});
  f.system.pass(1s);
  std::string failure;
  asked.receive([&](const examined& e) { failure = e.failure; }, [](caf::error&) {});
  CHECK(failure == "no such data"); // The other's answer.
}
