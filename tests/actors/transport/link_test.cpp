#include "actors/transport/link.hpp"
#include "tests/actors/test_system.hpp"

#include <catch2/catch.hpp>

#include <optional>

using namespace clade;
using namespace clade::test;
using namespace std::chrono_literals;

namespace {

/// A head as a link knows it, and what it was told.
struct head_side {
  std::optional<node_hello> hello;
  std::size_t heartbeats = 0, results = 0, epochs = 0;
  bool answers = true;  ///< Heartbeats.
  bool knows_it = true; ///< The node.
  bool welcomes = true;
  bool takes = true; ///< Results.
};

dispatcher_actor::behavior_type
stub_dispatcher(dispatcher_actor::stateful_pointer<std::shared_ptr<head_side>> self,
                std::shared_ptr<head_side> h) {
  return {
      [h](const node_hello& hello, const link_actor&) -> caf::result<node_welcome> {
        h->hello = hello;
        if (!h->welcomes)
          return caf::make_error(caf::sec::invalid_argument);
        return node_welcome{.node = 9, .heartbeat_ms = 500};
      },
      [](const node_ready&) {},
      [h](const results& r) -> caf::result<taken> {
        ++h->results;
        if (!h->takes)
          return caf::make_error(caf::sec::invalid_argument);
        taken t;
        for (const auto& one : r.batch)
          t.ids.push_back(one.id);
        return t;
      },
      [h](const epoch_passed&) { ++h->epochs; },
      [self, h](const heartbeat&) -> caf::result<heartbeat_answer> {
        ++h->heartbeats;
        if (!h->answers)
          return self->make_response_promise<heartbeat_answer>();
        return heartbeat_answer{h->knows_it};
      },
      [](const leaving&) { return may_leave{}; },
      [](const fetch_chunk&) {
        return chunk{"of the head", {}};
      },
      [](const fetch_piece&) {
        return chunk{"of the head", {}};
      },
      [](const piece&) { return piece_taken{}; },
      [](tick) {},
      [](serve_nodes) {},
      [](const selector_actor&) {},
      [](const submission&) {},
      [](const withdraw&) { return withdrawn{}; },
      [](hold_back) {},
      [](const drop_candidate&) {},
      [](const test_request&) { return test_answer{}; },
      [](slots_query) { return slots_view{}; },
      [](const leave&) {},
  };
}

/// A node as a link knows it, and what it was told.
struct node_side {
  std::optional<node_welcome> welcome;
  std::size_t assignments = 0;
  std::vector<task_id> forgets;
  std::string dismissed;
  bool may_leave = false;
};

node_actor::behavior_type stub_node(node_actor::pointer, std::shared_ptr<node_side> n) {
  return {
      [](link_up) { return node_hello{.slot = "cpu:0"}; },
      [n](const node_welcome& w, const link_actor&) { n->welcome = w; },
      [n](const assignments& a) { n->assignments += a.batch.size(); },
      [n](const leave& l) { n->dismissed = l.reason; },
      [n](const taken& t) { n->forgets = t.ids; },
      [n](may_leave) { n->may_leave = true; },
      [](const node_ready&) {},
      [](const results&) {},
      [](const epoch_passed&) {},
      [](const fetch_chunk&) {
        return chunk{"none", {}};
      },
      [](drain) {},
      [](drain_over) {},
      [](tick) {},
  };
}

struct fixture {
  test_system system;
  std::shared_ptr<head_side> head = std::make_shared<head_side>();
  std::shared_ptr<node_side> node = std::make_shared<node_side>();
  std::vector<std::string> ends;
  dispatcher_actor dispatcher = system->spawn(stub_dispatcher, head);
  node_actor node_handle = system->spawn(stub_node, node);
  caf::actor watcher = system->spawn([this]() -> caf::behavior {
    return {[this](const std::string& reason) { ends.push_back(reason); }};
  });
  link_actor link;

  void connect() {
    link = system->spawn(link_behavior, link_params{.dispatcher = dispatcher,
                                                    .node = node_handle,
                                                    .watcher = watcher,
                                                    .silence = 2s});
    system.settle();
  }

  ~fixture() {
    for (const caf::actor& a :
         {caf::actor_cast<caf::actor>(link), caf::actor_cast<caf::actor>(dispatcher),
          caf::actor_cast<caf::actor>(node_handle), watcher})
      if (a)
        caf::anon_send_exit(a, caf::exit_reason::user_shutdown);
    system.settle();
  }
};

} // namespace

TEST_CASE("link: it greets the head with what the node has and brings the welcome") {
  fixture f;
  f.connect();
  REQUIRE(f.head->hello);
  CHECK(f.head->hello->slot == "cpu:0");
  REQUIRE(f.node->welcome);
  CHECK(f.node->welcome->node == 9);
}

TEST_CASE("link: a node that is not welcome learns that there is no connection") {
  fixture f;
  f.head->welcomes = false;
  f.connect();
  CHECK_FALSE(f.node->welcome);
  REQUIRE(f.ends.size() == 1);
  CHECK(f.ends.front().starts_with("no welcome: "));
}

TEST_CASE("link: heartbeats go as often as the welcome says") {
  fixture f;
  f.connect();
  f.system.pass(1s); // The first goes by the time that holds before a welcome.
  const auto before = f.head->heartbeats;
  f.system.pass(5s);
  CHECK(f.head->heartbeats - before == 10);
  CHECK(f.ends.empty());
}

TEST_CASE("link: a silent head is given up after its time and not before") {
  fixture f;
  f.connect();
  f.system.pass(1s);
  f.head->answers = false;
  f.system.pass(1900ms);
  CHECK(f.ends.empty());
  f.system.pass(1s);
  CHECK(f.ends == std::vector<std::string>{"the head was silent for 2 s"});
}

TEST_CASE("link: a head that gave the node up ends it") {
  fixture f;
  f.connect();
  f.head->knows_it = false;
  f.system.pass(1s);
  CHECK(f.ends == std::vector<std::string>{"the head had given this node up"});
}

TEST_CASE("link: a head that ends is told at once") {
  fixture f;
  f.connect();
  caf::anon_send_exit(f.dispatcher, caf::exit_reason::kill);
  f.system.settle();
  REQUIRE(f.ends.size() == 1);
  CHECK(f.ends.front().starts_with("the connection ended: "));
}

TEST_CASE("link: work goes to the node and results to the head, which says what it has") {
  fixture f;
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
  CHECK(f.node->assignments == 1);
  CHECK(f.head->results == 1);
  CHECK(f.head->epochs == 1);
  CHECK(f.node->forgets == std::vector{id});
  CHECK(f.node->may_leave);
  CHECK(f.node->dismissed == "the run is over");
}

TEST_CASE("link: results that the head does not take end it, and the node has them") {
  fixture f;
  f.head->takes = false;
  f.connect();
  results done;
  done.batch.push_back({.id = {3, task_type::train}});
  caf::anon_send(f.link, done);
  f.system.settle();
  CHECK(f.node->forgets.empty());
  REQUIRE(f.ends.size() == 1);
  CHECK(f.ends.front().starts_with("results were not taken: "));
}
