#include "tests/actors/head/dispatcher_fixture.hpp"

using namespace clade;
using namespace clade::test;

TEST_CASE("dispatcher: a node learns how far to train, and from where it goes on") {
  fixture f;
  const auto n = f.join();
  f.submit({.id = 7, .epochs = 9, .start = 3, .start_epoch = 4});
  REQUIRE(n.was->assignments.size() == 1);
  const auto& a = n.was->assignments[0];
  const auto& network = std::get<training_task>(a.what).network;
  CHECK(std::tuple(network.epochs, network.start, network.start_epoch)
        == std::tuple(9u, 3u, 4u));
}

TEST_CASE(
    "dispatcher: trainings at the end of a run share its time, in turn on each slot") {
  fixture f(200s);
  const auto first = f.join(), second = f.join();
  std::vector<candidate> finals;
  for (candidate_id id = 1; id <= 4; ++id)
    finals.push_back({.id = id, .fold = {0, 1}, .time = 100s});
  f.submit(finals);
  const auto time_of = [](const fixture::node& n, std::size_t i) {
    return std::get<training_task>(n.was->assignments.at(i).what).time_ms;
  };
  // Four on two slots are two in turn; of the other three, too.
  CHECK(time_of(first, 0) == 50'000);
  CHECK(time_of(second, 0) == 50'000);
  // One is done late: what is left is for the two that are not handed out, one on each.
  f.system.pass(70s);
  caf::anon_send(f.dispatcher, heartbeat{first.id});
  f.system.settle();
  f.answer(first, first.was->assignments.at(0));
  CHECK(time_of(first, 1) == 30'000);
}

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

TEST_CASE(
    "dispatcher: a candidate that kills two nodes is an evaluation with that outcome") {
  fixture f;
  const auto first = f.join(41);
  f.submit(1);
  const auto second = f.join(42, 1, {{41, true, "killed by signal 6 (Aborted)"}});
  const auto third = f.join(43, 1, {{42, true, "killed by signal 6 (Aborted)"}});
  REQUIRE(f.told->evaluations.size() == 1);
  CHECK(f.told->evaluations[0].outcome == outcome::crashed);
  CHECK(third.was->assignments.empty());
}

TEST_CASE("dispatcher: bytes that are no evaluation change nothing") {
  fixture f;
  const auto n = f.join();
  f.submit(1);
  const auto a = n.was->assignments.at(0);
  results garbage{.node = n.id, .batch = {}};
  garbage.batch.push_back(
      {.id = a.id, .lease = a.lease, .what = training_result{.evaluated = "garbage"}});
  garbage.batch.push_back({.id = a.id, .lease = a.lease, .what = test_result{}});
  caf::anon_send(f.dispatcher, garbage);
  f.system.settle();
  CHECK(f.told->evaluations.empty());
  f.answer(n, a);
  CHECK(f.told->evaluations.size() == 1);
}

TEST_CASE("dispatcher: nothing is handed out while it is held") {
  fixture f;
  caf::anon_send(f.dispatcher, hold_back{true});
  f.submit(1);
  const auto n = f.join();
  CHECK(n.was->assignments.empty());
  caf::anon_send(f.dispatcher, hold_back{false});
  f.system.settle();
  CHECK(n.was->assignments.size() == 1);
}

TEST_CASE("dispatcher: a dropped candidate is an evaluation and its node forgets it") {
  fixture f;
  f.submit(1);
  f.submit(2);
  const auto n = f.join();
  REQUIRE(n.was->assignments.size() == 1);
  const auto id = n.was->assignments.front().id.candidate;
  caf::anon_send(f.dispatcher, drop_candidate{id, "ada"});
  caf::anon_send(f.dispatcher, drop_candidate{id, "ada"});
  f.system.settle();
  REQUIRE(f.told->evaluations.size() == 1);
  CHECK(f.told->evaluations[0].outcome == outcome::dropped);
  CHECK(f.told->evaluations[0].reason == "dropped by ada");
  CHECK(n.was->forgets == std::vector<task_id>{id});
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

namespace {

/// A test that the dispatcher was asked for, and what came of it.
struct asked_test {
  explicit asked_test(fixture& f, candidate_id id = 3)
      : self(*f.system),
        answer(self->request(f.dispatcher, caf::infinite,
                             test_request{{.id = {id, task_type::test}}})) {
    f.system.settle();
  }

  [[nodiscard]] bool answered() { return !self->mailbox().empty(); }

  test_answer take() {
    test_answer taken;
    answer.receive([&](const test_answer& a) { taken = a; },
                   [](caf::error&) { FAIL("no answer"); });
    return taken;
  }

  caf::scoped_actor self;
  decltype(std::declval<caf::scoped_actor&>()->request(
      std::declval<const dispatcher_actor&>(), caf::infinite, test_request{})) answer;
};

result measured(const assignment& a) {
  encoder out;
  encode(out, examination{.subject = {}, .id = a.id.candidate, .parameters = 12});
  return {.id = a.id, .lease = a.lease, .what = test_result{out.take()}};
}

} // namespace

TEST_CASE("dispatcher: a model that is put together goes before candidates that wait") {
  fixture f;
  const auto n = f.join();
  f.submit(1);
  f.submit(2);
  caf::anon_send(f.dispatcher, test_request{{.id = {0, task_type::compose}}});
  f.system.settle();
  f.answer(n, n.was->assignments.at(0));
  REQUIRE(n.was->assignments.size() == 2);
  CHECK(n.was->assignments.at(1).id == task_id{0, task_type::compose});
}

TEST_CASE("dispatcher: a test is leased like a training and its result is the answer") {
  fixture f;
  const auto n = f.join();
  asked_test test(f);
  REQUIRE(n.was->assignments.size() == 1);
  const auto& a = n.was->assignments.front();
  CHECK(a.id == task_id{3, task_type::test});
  // Garbage is no answer, and the lease of another task none of this one's.
  for (const auto& garbage :
       {result{.id = a.id, .lease = a.lease, .what = test_result{"garbage"}},
        result{.id = a.id, .lease = a.lease, .what = training_result{}},
        result{.id = a.id, .lease = a.lease, .what = composition_result{}}})
    CHECK(f.answer(n, garbage).ids.empty());
  f.answer(n, result{.id = a.id, .lease = a.lease + 1, .what = test_result{}});
  CHECK_FALSE(test.answered());
  CHECK(f.answer(n, measured(a)).ids == std::vector<task_id>{a.id});
  const auto answer = test.take();
  REQUIRE(answer.measured);
  REQUIRE(*answer.measured);
  CHECK((*answer.measured)->parameters == 12);
}

TEST_CASE("dispatcher: a test may fail or have no meaning") {
  fixture f;
  const auto n = f.join();
  asked_test bad(f, 3);
  const auto& first = n.was->assignments.at(0);
  f.answer(
      n,
      result{.id = first.id, .lease = first.lease, .what = task_failure{"no such data"}});
  CHECK(bad.take().measured.error().message == "no such data");
  asked_test baseline(f, 0);
  const auto& second = n.was->assignments.at(1);
  f.answer(n, result{.id = second.id, .lease = second.lease, .what = test_result{}});
  const auto answer = baseline.take();
  REQUIRE(answer.measured);
  CHECK_FALSE(*answer.measured);
}

TEST_CASE("dispatcher: a test whose node is lost is made elsewhere") {
  fixture f;
  const auto lost = f.join();
  asked_test test(f);
  REQUIRE(lost.was->assignments.size() == 1);
  const auto other = f.join();
  CHECK(other.was->assignments.empty());
  f.cut(lost);
  // Until its lease ends it may come back with what it has.
  f.ask<heartbeat_answer>(heartbeat{other.id});
  f.system.pass(2s);
  CHECK(other.was->assignments.empty());
  f.ask<heartbeat_answer>(heartbeat{other.id});
  f.system.pass(2s);
  REQUIRE(other.was->assignments.size() == 1);
  f.answer(other, measured(other.was->assignments.front()));
  CHECK(test.take().measured);
  CHECK(f.attempts() == 0); // Which are of trainings.
}

TEST_CASE("dispatcher: a test that waits for a node is given up when the run stops") {
  fixture f;
  asked_test test(f);
  CHECK(f.ask<withdrawn>(withdraw{}).ids.empty());
  CHECK(test.take().measured.error().message == "the run stops");
}

TEST_CASE("dispatcher: a test fails by what node processes do, not by what is done to "
          "them") {
  const auto losses_until_it_fails = [](bool own_doing) {
    fixture f;
    asked_test test(f);
    std::vector<former_process> former;
    int losses = 0;
    // Each node is the former one's next process, and takes it without an answer.
    for (std::uint64_t session = 1; session <= 8; ++session) {
      const auto n = f.join(session, 1, former);
      if (test.answered())
        break;
      f.cut(n);
      former = {{.session = session, .own_doing = own_doing, .how = "killed"}};
      ++losses;
    }
    if (!test.answered())
      return 0;
    CHECK(test.take().measured.error().message
          == "two node processes ended while they made it, the last killed");
    return losses;
  };
  CHECK(losses_until_it_fails(true) == 2);
  CHECK(losses_until_it_fails(false) == 0);
}
