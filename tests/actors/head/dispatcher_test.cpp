#include "tests/actors/head/dispatcher_fixture.hpp"

using namespace clade;
using namespace clade::test;

TEST_CASE("dispatcher: a node learns how far to train, and from where it goes on") {
  fixture f;
  const auto n = f.join();
  f.submit({.id = 7, .epochs = 9, .start = 3, .start_epoch = 4});
  REQUIRE(n.was->assignments.size() == 1);
  const auto& a = n.was->assignments[0];
  CHECK(std::tuple(a.epochs, a.start, a.start_epoch) == std::tuple(9u, 3u, 4u));
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
      {.id = a.id, .lease = a.lease, .evaluation = "garbage", .weights = {}});
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

TEST_CASE("dispatcher: an examination fails by what node processes do, not by what is "
          "done to them") {
  const auto losses_until_it_fails = [](bool own_doing) {
    fixture f;
    caf::scoped_actor self(*f.system);
    auto asked =
        self->request(f.dispatcher, caf::infinite, examine{.subject = "champion"});
    std::vector<former_process> former;
    int losses = 0;
    // Each node is the former one's next process, and takes it without an answer.
    for (std::uint64_t session = 1; session <= 8 && self->mailbox().empty(); ++session) {
      fixture::node mute{
          .hello = {.slot = "cpu:0", .worker = 1, .session = session, .former = former}};
      f.connect(mute);
      const auto silent =
          f.system->spawn([](caf::event_based_actor* taking) -> caf::behavior {
            taking->set_default_handler(caf::skip);
            return {[](caf::unit_t) {}};
          });
      mute.link = caf::actor_cast<link_actor>(silent);
      REQUIRE(f.ask<node_welcome>(mute.hello, mute.link).node == mute.id);
      caf::anon_send(f.dispatcher, node_ready{.node = mute.id});
      f.system.settle();
      if (!self->mailbox().empty())
        break;
      f.cut(mute);
      former = {{.session = session, .own_doing = own_doing, .how = "killed"}};
      ++losses;
    }
    if (self->mailbox().empty())
      return 0;
    asked.receive(
        [](const examined& e) {
          CHECK(e.failure == "the node process ended in each of 3 tries");
        },
        [](caf::error&) { FAIL("no answer"); });
    return losses;
  };
  CHECK(losses_until_it_fails(true) == 3);
  CHECK(losses_until_it_fails(false) == 0);
}
