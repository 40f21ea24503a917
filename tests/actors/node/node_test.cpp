#include "actors/node/node.hpp"
#include "tests/actors/test_system.hpp"

#include <catch2/catch.hpp>

#include <utility>

using namespace clade;
using namespace clade::test;
using namespace std::chrono_literals;

namespace {

/// The messages that the node's executors and its connection were told, and how it ended.
struct heard {
  std::size_t welcomes = 0;
  std::vector<assignment> to_train, to_test;
  std::vector<node_ready> ready;
  std::vector<result> results;
  std::vector<task_id> not_done;
  std::size_t leaving = 0;
  std::vector<std::pair<node_end, std::string>> ends;
  std::size_t pulses = 0;
};

trainer_actor::behavior_type stub_trainer(trainer_actor::pointer, heard* h) {
  return {[h](const node_welcome&) { ++h->welcomes; },
          [h](const assignments& a) {
            h->to_train.insert(h->to_train.end(), a.batch.begin(), a.batch.end());
          }};
}

evaluator_actor::behavior_type stub_evaluator(evaluator_actor::pointer, heard* h) {
  return {[h](const assignments& a) {
    h->to_test.insert(h->to_test.end(), a.batch.begin(), a.batch.end());
  }};
}

link_actor::behavior_type stub_link(link_actor::pointer, heard* h) {
  return {
      [](const assignments&) {},
      [](const team_formed&) {},
      [](const leave&) {},
      [h](const node_ready& r) { h->ready.push_back(r); },
      [h](const results& r) {
        h->results.insert(h->results.end(), r.batch.begin(), r.batch.end());
      },
      [](const epoch_passed&) {},
      [](const team_passed&) {},
      [h](const leaving& l) {
        ++h->leaving;
        h->not_done = l.not_done;
      },
      [](const fetch_chunk&) {
        return chunk{"of the head", {}};
      },
      [](const taken&) {},
      [](tick) {},
  };
}

constexpr std::uint64_t this_run = 77;

task_id training(candidate_id id) {
  return {id, task_type::train};
}

struct fixture {
  test_system system;
  heard h;
  caf::actor ended = system->spawn([this]() -> caf::behavior {
    return {[this](int why, const std::string& words) {
      h.ends.emplace_back(static_cast<node_end>(why), words);
    }};
  });
  node_actor node = system->spawn(
      node_behavior,
      node_params{.slot = "cpu:0",
                  .device = "cpu",
                  .session = 8,
                  .grace = 5s,
                  .pulse = [this] { ++h.pulses; }},
      ended, make_executors([this](node_actor::stateful_pointer<node_state> self) {
        return node_executors{.trainer = self->spawn(stub_trainer, &h),
                              .evaluator = self->spawn(stub_evaluator, &h)};
      }));
  std::vector<link_actor> links;

  ~fixture() {
    for (const auto& one : links)
      caf::anon_send_exit(one, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(node, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(ended, caf::exit_reason::user_shutdown);
    system.settle();
  }

  node_hello hello() {
    node_hello said;
    caf::scoped_actor self(*system);
    auto asked = self->request(node, caf::infinite, link_up{});
    system.settle();
    asked.receive([&](const node_hello& m) { said = m; },
                  [](caf::error&) { FAIL("no hello"); });
    return said;
  }

  /// A new connection brings this welcome.
  void connect(node_welcome welcome = {}) {
    welcome.node = 3;
    if (welcome.run == 0)
      welcome.run = this_run;
    links.push_back(system->spawn(stub_link, &h));
    tell(welcome, links.back());
  }

  void lose_connection() {
    caf::anon_send_exit(links.back(), caf::exit_reason::kill);
    system.settle();
  }

  template<class... Message>
  void tell(Message... message) {
    caf::anon_send(node, std::move(message)...);
    system.settle();
  }

  void assign(const task_id& id, std::uint64_t lease) {
    assignments work;
    assignment a{.id = id, .lease = lease};
    if (id.type == task_type::test)
      a.what = test_task{};
    work.batch.push_back(a);
    tell(work);
  }

  /// The executor's result of what it was given at that place.
  void finish(const assignment& a) {
    results done;
    done.batch.push_back({.id = a.id, .lease = a.lease});
    tell(done);
  }

  [[nodiscard]] std::vector<std::uint64_t> leases_of_results() const {
    std::vector<std::uint64_t> all;
    for (const auto& r : h.results)
      all.push_back(r.lease);
    return all;
  }
};

} // namespace

TEST_CASE("node: it prepares once, and tells each head that it is ready") {
  fixture f;
  CHECK(f.hello().slot == "cpu:0");
  CHECK_FALSE(f.hello().ready);
  f.connect();
  CHECK(f.h.welcomes == 1);
  CHECK(f.h.ready.empty());
  f.tell(node_ready{});
  REQUIRE(f.h.ready.size() == 1);
  CHECK(f.h.ready[0].node == 3);
  CHECK(f.hello().ready);
  f.lose_connection();
  f.connect();
  CHECK(f.h.welcomes == 1);
  CHECK(f.h.ready.size() == 2);
}

TEST_CASE("node: trainings and tests go to their executors and results to the head") {
  fixture f;
  f.connect();
  f.assign(training(1), 40);
  f.assign({1, task_type::test}, 41);
  REQUIRE(f.h.to_train.size() == 1);
  REQUIRE(f.h.to_test.size() == 1);
  f.finish(f.h.to_train[0]);
  f.finish(f.h.to_test[0]);
  CHECK(f.leases_of_results() == std::vector<std::uint64_t>{40, 41});
}

TEST_CASE("node: a result is kept until a head has taken it") {
  fixture f;
  f.connect();
  f.assign(training(1), 40);
  f.lose_connection();
  f.finish(f.h.to_train.at(0));
  CHECK(f.h.results.empty());
  REQUIRE(f.hello().has.size() == 1);
  CHECK(f.hello().has[0].lease == 40);
  f.connect({.keep = {{.id = training(1), .lease = 7}}});
  CHECK(f.leases_of_results() == std::vector<std::uint64_t>{7});
  f.tell(taken{.ids = {training(1)}});
  CHECK(f.hello().has.empty());
}

TEST_CASE("node: what the next head does not want is dropped") {
  fixture f;
  f.connect();
  f.assign(training(1), 40);
  f.assign(training(2), 41);
  f.lose_connection();
  f.connect({.keep = {{.id = training(2), .lease = 9}}});
  for (const auto& a : std::vector(f.h.to_train))
    f.finish(a);
  CHECK(f.leases_of_results() == std::vector<std::uint64_t>{9});
}

TEST_CASE("node: of several attempts at a task only the last one counts") {
  fixture f;
  f.connect();
  f.assign(training(1), 40);
  f.assign(training(1), 50);
  REQUIRE(f.h.to_train.size() == 2);
  f.finish(f.h.to_train[0]);
  CHECK(f.h.results.empty());
  f.finish(f.h.to_train[1]);
  f.finish(f.h.to_train[1]);
  CHECK(f.leases_of_results() == std::vector<std::uint64_t>{50});
}

TEST_CASE("node: it ends when the head says so, and says why") {
  const auto end_of = [](const node_welcome& first, const node_welcome& then = {}) {
    fixture f;
    f.connect(first);
    if (f.h.ends.empty())
      f.connect(then);
    return f.h.ends.empty() ? std::pair(node_end::stuck, std::string())
                            : f.h.ends.front();
  };
  CHECK(end_of({.refusal = "another version"})
        == std::pair(node_end::refused,
                     std::string("the run refused this node: another version")));
  CHECK(end_of({.over = true}).first == node_end::dismissed);
  CHECK(end_of({}, {.run = this_run + 1}).first == node_end::connection);
  fixture f;
  f.connect();
  f.tell(leave{.reason = "the run is over"});
  CHECK(f.h.ends
        == std::vector{std::pair(node_end::dismissed, std::string("the run is over"))});
}

TEST_CASE("node: where it cannot train it ends as refused, with the reason") {
  fixture f;
  f.connect();
  f.tell(node_ready{.failure = "no LibTorch"});
  f.tell(leave{.reason = "it failed to prepare"});
  CHECK(f.h.ends
        == std::vector{std::pair(node_end::refused, std::string("no LibTorch"))});
}

TEST_CASE("node: it drains: what was not begun goes back, and it leaves when heard") {
  fixture f;
  f.connect();
  f.assign(training(1), 40);
  f.tell(drain{});
  CHECK(f.h.leaving == 1);
  CHECK(f.h.not_done == std::vector{training(1)});
  CHECK(f.h.ends.empty());
  f.tell(clade::may_leave{});
  REQUIRE(f.h.ends.size() == 1);
  CHECK(f.h.ends[0].first == node_end::drained);
}

TEST_CASE("node: a drained one with a result stays until it is taken") {
  fixture f;
  f.connect();
  f.assign(training(1), 40);
  f.finish(f.h.to_train.at(0));
  f.tell(drain{});
  f.tell(clade::may_leave{});
  CHECK(f.h.ends.empty());
  f.tell(taken{.ids = {training(1)}});
  CHECK(f.h.ends.size() == 1);
}

TEST_CASE("node: without a head it drains for its grace and no longer") {
  fixture f;
  f.tell(drain{});
  f.system.pass(4900ms);
  CHECK(f.h.ends.empty());
  f.system.pass(200ms);
  REQUIRE(f.h.ends.size() == 1);
  CHECK(f.h.ends[0].first == node_end::drained);
}

TEST_CASE("node: it gives a pulse each second") {
  fixture f;
  f.system.settle();
  const auto before = f.h.pulses;
  f.system.pass(10s);
  CHECK(f.h.pulses - before == 10);
}
