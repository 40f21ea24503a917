#include "tests/actors/transport/link_fixture.hpp"

using namespace clade;
using namespace clade::test;

TEST_CASE("link: it greets the head with what the node has and brings the welcome") {
  link_fixture f;
  f.connect();
  REQUIRE(f.head->hello);
  CHECK(f.head->hello->slot == "cpu:0");
  REQUIRE(f.node->welcome);
  CHECK(f.node->welcome->node == 9);
}

TEST_CASE("link: a node that is not welcome learns that there is no connection") {
  link_fixture f;
  f.head->welcomes = false;
  f.connect();
  CHECK_FALSE(f.node->welcome);
  REQUIRE(f.ends.size() == 1);
  CHECK(f.ends.front().starts_with("no welcome: "));
}

TEST_CASE("link: heartbeats go as often as the welcome says") {
  link_fixture f;
  f.connect();
  f.system.pass(1s); // The first goes by the time that holds before a welcome.
  const auto before = f.head->heartbeats;
  f.system.pass(5s);
  CHECK(f.head->heartbeats - before == 10);
  CHECK(f.ends.empty());
}

TEST_CASE("link: a silent head is given up after its time and not before") {
  link_fixture f;
  f.connect();
  f.system.pass(1s);
  f.head->answers = false;
  f.system.pass(1900ms);
  CHECK(f.ends.empty());
  f.system.pass(1s);
  CHECK(f.ends == std::vector<std::string>{"the head was silent for 2 s"});
}

TEST_CASE("link: a head that gave the node up ends it") {
  link_fixture f;
  f.connect();
  f.head->knows_it = false;
  f.system.pass(1s);
  CHECK(f.ends == std::vector<std::string>{"the head had given this node up"});
}

TEST_CASE("link: a head that ends is told at once") {
  link_fixture f;
  f.connect();
  caf::anon_send_exit(f.dispatcher, caf::exit_reason::kill);
  f.system.settle();
  REQUIRE(f.ends.size() == 1);
  CHECK(f.ends.front().starts_with("the connection ended: "));
}

TEST_CASE("link: work goes to the node and results to the head, which says what it has") {
  link_fixture f;
  f.connect();
  const task_id id{3, task_type::train};
  assignments work;
  work.batch.push_back({.id = id});
  caf::anon_send(f.link, work);
  results done;
  done.batch.push_back({.id = id});
  caf::anon_send(f.link, done);
  caf::anon_send(f.link, epoch_passed{});
  caf::anon_send(f.link, leaving{});
  caf::anon_send(f.link, leave{.reason = "the run is over"});
  f.system.settle();
  CHECK(f.node->given.size() == 1);
  CHECK(f.head->results.size() == 1);
  CHECK(f.head->epochs == 1);
  CHECK(f.node->forgotten == std::vector{id});
  CHECK(f.node->may_leave);
  CHECK(f.node->dismissal == "the run is over");
}

TEST_CASE("link: results that the head does not take end it, and the node has them") {
  link_fixture f;
  f.head->takes = false;
  f.connect();
  results done;
  done.batch.push_back({.id = {3, task_type::train}});
  caf::anon_send(f.link, done);
  f.system.settle();
  CHECK(f.node->forgotten.empty());
  REQUIRE(f.ends.size() == 1);
  CHECK(f.ends.front().starts_with("results were not taken: "));
}
