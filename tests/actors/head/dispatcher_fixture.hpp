#pragma once

#include "actors/head/data_source.hpp"
#include "actors/head/dispatcher.hpp"
#include "actors/node/trainer.hpp"
#include "genome/codec/codec.hpp"
#include "genome/variation/mutation.hpp"
#include "tests/actors/test_system.hpp"
#include "tests/support/genomes.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>

namespace clade::test {

using namespace std::chrono_literals;

/// The messages that the selector was told.
struct heard {
  std::vector<evaluation> evaluations;
  std::vector<blob> weights; ///< The weights of these.
  std::vector<record> observations;
  std::vector<error> failures;
  std::vector<candidate_id> withdrawn_ids;
};

inline selector_actor::behavior_type stub_selector(selector_actor::pointer,
                                                   std::shared_ptr<heard> h) {
  return {
      [h](const evaluations& e) {
        for (const auto& done : e.batch) {
          h->evaluations.push_back(done.evaluation);
          h->weights.push_back(done.weights);
        }
      },
      [h](const observation& o) { h->observations.push_back(o.record); },
      [h](const run_failure& f) { h->failures.push_back(f.why); },
      [h](const withdrawn& w) {
        h->withdrawn_ids.insert(h->withdrawn_ids.end(), w.ids.begin(), w.ids.end());
      },
      [](const stop_run&) {},
      [](const end_search&) {},
      [](const told&) { return std::string(); },
      [](const progress_query&) { return run_progress{}; },
  };
}

/// The leases that a node was given.
struct given {
  std::vector<assignment> assignments;
  std::vector<task_id> forgets;
  std::vector<team_formed> teams;
  std::string dismissed;
};

inline link_actor::behavior_type stub_link(link_actor::pointer,
                                           std::shared_ptr<given> g) {
  return {
      [g](const assignments& a) {
        g->assignments.insert(g->assignments.end(), a.batch.begin(), a.batch.end());
      },
      [g](const team_formed& t) { g->teams.push_back(t); },
      [g](const leave& l) { g->dismissed = l.reason; },
      [](const node_ready&) {},
      [](const results&) {},
      [](const epoch_passed&) {},
      [](const team_passed&) {},
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
  scratch_folder folder;
  test_system system;
  std::shared_ptr<heard> told = std::make_shared<heard>();
  std::vector<std::string> said;
  selector_actor selector = system->spawn(stub_selector, told);
  data_source_actor source = system->spawn(data_source_behavior, sent_data());
  dispatcher_actor dispatcher;

  /// A node, and its present connection.
  struct node {
    node_hello hello;
    link_actor link;
    std::shared_ptr<given> was;
    std::uint64_t id = 0;
  };

  explicit fixture(std::chrono::milliseconds lease = 10s, std::uint32_t team_of = 0,
                   bool portable = false)
      : dispatcher(system->spawn(
          dispatcher_behavior,
          dispatcher_params{
              .schedule = {.lease = lease, .closed_lease = 3s},
              .run = this_run,
              .experiment = "e",
              .source = source,
              .incoming = folder.path() / "incoming",
              .local_worker = local_worker,
              .tasks = {.needs_of =
                            [team_of](const candidate&) {
                              return task_needs{.slots = std::max(1U, team_of),
                                                .team = team_of > 0};
                            }},
              .by_team = team_of > 0,
              .portable = portable,
              .say = [this](const std::string& line) { said.push_back(line); }})) {
    caf::anon_send(dispatcher, selector);
  }

  ~fixture() {
    caf::anon_send_exit(dispatcher, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(source, caf::exit_reason::user_shutdown);
    system.settle();
  }

  /// Returns the dispatcher's answer to a request.
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

  node join(std::uint64_t session = 0, std::uint64_t worker = 1,
            std::vector<former_process> former = {}) {
    static std::uint64_t sessions = 100;
    node n{.hello = {.slot = "cpu:0",
                     .worker = worker,
                     .session = session != 0 ? session : ++sessions,
                     .former = std::move(former)}};
    // A slot of its own, unless the test says otherwise.
    if (session == 0)
      n.hello.slot = "cpu:" + std::to_string(sessions);
    REQUIRE(connect(n).experiment == "e");
    caf::anon_send(dispatcher, node_ready{.node = n.id, .team = {.port = port_of(n.id)}});
    system.settle();
    return n;
  }

  /// Returns the port at which others of its teams find a node.
  static std::uint16_t port_of(std::uint64_t node) {
    return static_cast<std::uint16_t>(1'000 + node);
  }

  void submit(candidate_id id) { submit(candidate{.id = id}); }

  void submit(const candidate& c) { submit(std::vector{c}); }

  void submit(std::vector<candidate> all) {
    for (auto& c : all) {
      random_stream random({.seed = c.id});
      c.genome =
          std::make_shared<const genome>(sample_genome(test::small_grammar(), random));
    }
    submission message;
    message.candidates = std::move(all);
    caf::anon_send(dispatcher, message);
    system.settle();
  }

  taken answer(const node& n, const assignment& a) {
    evaluation e{.id = a.id.candidate};
    e.seconds = 1;
    return answer(n, result_of({e, {}}, a.lease));
  }

  taken answer(const node& n, result r) {
    results message{.node = n.id, .batch = {}};
    message.batch.push_back(std::move(r));
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

} // namespace clade::test
