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
      [](const progress_query&) { return run_progress{}; },
  };
}

/// What a node was given.
struct given {
  std::vector<assignment> assignments;
  bool dismissed = false;
};

node_actor::behavior_type stub_node(node_actor::pointer, std::shared_ptr<given> g) {
  return {
      [g](const assignments& a) {
        g->assignments.insert(g->assignments.end(), a.batch.begin(), a.batch.end());
      },
      [](const examine&) {
        return examined{"no such data", {}};
      },
      [g](const leave&) { g->dismissed = true; },
      [](tick) {},
  };
}

struct fixture {
  test::test_system system;
  std::shared_ptr<heard> told = std::make_shared<heard>();
  selector_actor selector = system->spawn(stub_selector, told);
  dispatcher_actor dispatcher = system->spawn(
      dispatcher_behavior,
      dispatcher_params{.schedule = {.lease = 10s}, .build = "1.0", .experiment = "e"});

  struct node {
    node_actor handle;
    std::shared_ptr<given> was;
    std::uint64_t id = 0;
  };

  fixture() {
    caf::anon_send(dispatcher, selector);
    system.settle();
  }

  ~fixture() {
    caf::anon_send_exit(dispatcher, caf::exit_reason::user_shutdown);
    system.settle();
  }

  node_welcome hello(const node_actor& handle, std::uint32_t protocol,
                     const std::string& build) {
    node_welcome answer;
    caf::scoped_actor self(*system);
    auto request = self->request(
        dispatcher, caf::infinite,
        node_hello{.protocol = protocol, .build = build, .slot = "cpu:0"}, handle);
    system.settle();
    request.receive([&](const node_welcome& w) { answer = w; },
                    [](caf::error&) { FAIL("no answer"); });
    return answer;
  }

  node join() {
    auto was = std::make_shared<given>();
    auto handle = system->spawn(stub_node, was);
    const auto welcome = hello(handle, protocol_version, "1.0");
    REQUIRE(welcome.refusal.empty());
    CHECK(welcome.experiment == "e");
    caf::anon_send(dispatcher, node_ready{.node = welcome.node});
    system.settle();
    return {handle, was, welcome.node};
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

  void answer(const node& n, const assignment& a) {
    evaluation e{.id = a.id};
    e.seconds = 1;
    results message{.node = n.id, .batch = {}};
    message.batch.push_back(result_of({e, {}}, a.lease));
    caf::anon_send(dispatcher, message);
    system.settle();
  }

  void kill(const node& n) {
    caf::anon_send_exit(n.handle, caf::exit_reason::kill);
    system.settle();
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
  CHECK(f.told->evaluations[0].slot == "cpu:0");
  CHECK(f.told->evaluations[0].tries == 1);
}

TEST_CASE(
    "dispatcher: a node of another version is refused in a sentence that names both") {
  fixture f;
  const auto handle = f.system->spawn(stub_node, std::make_shared<given>());
  CHECK(f.hello(handle, protocol_version + 1, "2.0").refusal
        == "this node is clade 2.0, protocol " + std::to_string(protocol_version + 1)
               + "; the run is clade 1.0, protocol " + std::to_string(protocol_version)
               + ": start a worker of the run's version");
  CHECK_FALSE(f.hello(handle, protocol_version, "1.1").refusal.empty());
}

TEST_CASE("dispatcher: a candidate is handed out again when its node is lost") {
  fixture f;
  const auto first = f.join();
  f.submit(1);
  const auto second = f.join();
  f.kill(first);
  REQUIRE(second.was->assignments.size() == 1);
  CHECK(second.was->assignments[0].id == 1);
  f.answer(second, second.was->assignments[0]);
  REQUIRE(f.told->evaluations.size() == 1);
  CHECK(f.told->evaluations[0].tries == 2);
  const auto failed = std::ranges::count_if(f.told->observations, [](const record& r) {
    return std::holds_alternative<attempt_failed>(r);
  });
  CHECK(failed == 1);
}

TEST_CASE(
    "dispatcher: a candidate that kills two nodes is an evaluation with that outcome") {
  fixture f;
  const auto first = f.join();
  f.submit(1);
  f.kill(first);
  f.kill(f.join());
  REQUIRE(f.told->evaluations.size() == 1);
  CHECK(f.told->evaluations[0].outcome == outcome::crashed);
  const auto third = f.join();
  CHECK(third.was->assignments.empty());
}

TEST_CASE("dispatcher: a node that falls silent loses its lease and is told to leave") {
  fixture f;
  const auto silent = f.join();
  f.submit(1);
  const auto assigned = silent.was->assignments.at(0);
  const auto other = f.join();
  for (int i = 0; i < 12; ++i) {
    caf::anon_send(f.dispatcher, heartbeat{other.id});
    f.system.pass(1s);
  }
  CHECK(silent.was->dismissed);
  CHECK_FALSE(other.was->dismissed);
  REQUIRE(other.was->assignments.size() == 1);
  f.answer(silent, assigned); // It wakes up, too late.
  CHECK(f.told->evaluations.empty());
  f.answer(other, other.was->assignments[0]);
  CHECK(f.told->evaluations.size() == 1);
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

TEST_CASE("dispatcher: a node that cannot prepare itself fails the run with its reason") {
  fixture f;
  auto handle = f.system->spawn(stub_node, std::make_shared<given>());
  const auto welcome = f.hello(handle, protocol_version, "1.0");
  caf::anon_send(f.dispatcher, node_ready{.node = welcome.node, .failure = "no data"});
  f.system.settle();
  REQUIRE(f.told->failures.size() == 1);
  CHECK(f.told->failures[0].message == "no data");
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
