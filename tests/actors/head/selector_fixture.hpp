#pragma once

#include "actors/head/selector.hpp"
#include "genome/genes/hash.hpp"
#include "genome/variation/mutation.hpp"
#include "tests/actors/test_system.hpp"
#include "tests/support/genomes.hpp"

#include <catch2/catch.hpp>

#include <limits>
#include <set>

namespace clade::test {

using namespace std::chrono_literals;

/// An archive whose disk answers when the test lets it.
struct disk {
  std::vector<record> written;
  std::set<candidate_id> weights; ///< The candidates whose weights it holds.
  std::size_t waiting = 0;
  caf::actor gate; ///< Answers when the disk may.
  std::optional<error> fails;
  bool slow = false;
};

inline appended written(const disk& d) {
  if (d.fails)
    return {tl::unexpected(*d.fails)};
  return {store::place{}};
}

inline archive_actor::behavior_type stub_archive(archive_actor::pointer self,
                                                 std::shared_ptr<disk> d) {
  return {
      [self, d](const append& a) {
        auto promise = self->make_response_promise<appended>();
        for (const auto& e : *a.entries) {
          if (!d->fails)
            d->written.push_back(e.record);
          if (!e.weights.empty())
            d->weights.insert(std::get<candidate_evaluated>(e.record).evaluated.id);
        }
        if (!a.keep.empty())
          std::erase_if(d->weights, [&](candidate_id id) {
            return std::ranges::find(a.keep, id) == a.keep.end();
          });
        if (d->slow) {
          ++d->waiting;
          self->request(d->gate, caf::infinite, 0).then([promise, d](int) mutable {
            promise.deliver(written(*d));
          });
        } else {
          promise.deliver(written(*d));
        }
        return promise;
      },
      [](const fetch_evaluation& f) {
        return fetched_evaluation{evaluation{.id = f.id}};
      },
      [](const clade::keep_picture&) {},
      [](const write_kept&) { return kept_written{expected<void>()}; },
      [](const fetch_weights&) { return fetched_weights{bytes{}}; },
      [](const fetch_lineages& f) {
        return fetched_lineages{std::vector<lineage>(f.ids.size())};
      },
  };
}

inline generator_actor::behavior_type stub_generator(generator_actor::pointer) {
  return {[](const breeding_orders& wanted) {
    brood made;
    for (const auto& o : wanted.orders) {
      random_stream random({.seed = 1, .index = o.id, .attempt = o.attempt});
      candidate c{
          .id = o.id, .generation = o.generation, .index = o.index, .attempt = o.attempt};
      c.genome = std::make_shared<const genome>(sample_genome(small_grammar(), random));
      c.network = canonical_hash(*c.genome);
      for (const auto& p : o.parents)
        c.parents.push_back(p.id);
      c.changes = {{.after = "stub"}};
      made.candidates.push_back(std::move(c));
    }
    return made;
  }};
}

/// The requests that the dispatcher was given; the test plays the nodes.
struct handed {
  std::vector<candidate> candidates;
  std::vector<candidate_id> takes_back;
  std::vector<candidate_id> dropped;
  bool held = false;
  int tests = 0;
  /// So many models are too many to be put together.
  std::size_t too_many = std::numeric_limits<std::size_t>::max();
  /// The number of models for each final model that was wanted.
  std::vector<std::size_t> compositions;
  /// The number of models for each interim model. One that is held back comes with a tick.
  std::vector<std::size_t> interims;
  bool holds_interims = false, refuses_interims = false;
  caf::typed_response_promise<test_answer> held_interim;
};

/// An interim model of one candidate.
inline test_answer interim_of(candidate_id id) {
  composition made{.model = {.members = {{.id = id, .share = 1}}}};
  return {.measured = std::nullopt,
          .composed = std::make_shared<const composition>(std::move(made))};
}

inline dispatcher_actor::behavior_type
dispatcher_of_stub_nodes(dispatcher_actor::pointer self, std::shared_ptr<handed> h) {
  return {
      [](const node_hello&, const link_actor&) { return node_welcome{}; },
      [](const node_ready&) {},
      [](const results&) { return taken{}; },
      [](const epoch_passed&) {},
      [](const team_passed&) {},
      [](const heartbeat&) { return heartbeat_answer{}; },
      [](const leaving&) { return may_leave{}; },
      [](const fetch_chunk&) { return chunk{}; },
      [](const fetch_piece&) { return chunk{}; },
      [](const piece&) { return piece_taken{}; },
      [h](tick) { // The interim model that is held back comes.
        if (h->held_interim.pending())
          h->held_interim.deliver(interim_of(1));
      },
      [](serve_nodes) {},
      [](const selector_actor&) {},
      [h](const submission& s) {
        h->candidates.insert(h->candidates.end(), s.candidates.begin(),
                             s.candidates.end());
      },
      [h](withdraw) { return withdrawn{h->takes_back}; },
      [h](const hold_back& message) { h->held = message.on; },
      [h](const drop_candidate& message) { h->dropped.push_back(message.id); },
      [self, h](const test_request& t) -> caf::result<test_answer> {
        if (const auto* task = std::get_if<composition_task>(&t.what.what);
            task != nullptr && task->interim) {
          h->interims.push_back(decode_members(**task->members.load())->size());
          if (h->refuses_interims)
            return test_answer{fail(error_kind::internal, "a node process ended")};
          if (!h->holds_interims)
            return interim_of(1);
          h->held_interim = self->make_response_promise<test_answer>();
          return h->held_interim;
        }
        ++h->tests;
        if (const auto* task = std::get_if<composition_task>(&t.what.what)) {
          const auto members = decode_members(**task->members.load());
          h->compositions.push_back(members->size());
          if (members->size() >= h->too_many)
            return test_answer{fail(error_kind::internal, "two node processes ended")};
          composition made{.tested = {.subject = "final model"}};
          for (const auto& m : *members)
            made.model.members.push_back(
                {.id = m.id, .share = 1 / static_cast<double>(members->size())});
          return test_answer{.measured = std::nullopt,
                             .composed =
                                 std::make_shared<const composition>(std::move(made))};
        }
        return test_answer{std::optional(examination{.id = t.what.id.candidate})};
      },
      [](slots_query) { return slots_view{}; },
      [](const leave&) {},
  };
}

struct selector_fixture {
  test_system system;
  std::shared_ptr<disk> drive = std::make_shared<disk>();
  std::shared_ptr<handed> nodes = std::make_shared<handed>();
  caf::scoped_actor watcher{*system};
  caf::scoped_actor gate{*system};
  dispatcher_actor dispatcher;
  selector_actor selector;

  explicit selector_fixture(bool slow_disk = false, final_params final_stage = {},
                            std::size_t population = 4) {
    drive->slow = slow_disk;
    drive->gate = caf::actor_cast<caf::actor>(gate);
    evolution_params evolution{
        .population = population, .generations = 2, .tournament = 2, .elites = 1};
    auto run = make_run_state({.evolution = evolution,
                               .objective = {},
                               .seed = 1,
                               .final_stage = std::move(final_stage)});
    REQUIRE(run);
    REQUIRE(apply(*run, run_started{.version = "1", .experiment = "", .seed = 1}));
    dispatcher = system->spawn(dispatcher_of_stub_nodes, nodes);
    selector =
        system->spawn(selector_behavior,
                      selector_params{.archive = system->spawn(stub_archive, drive),
                                      .dispatcher = dispatcher,
                                      .generators = {system->spawn(stub_generator)},
                                      .run = std::make_shared<run_state>(std::move(*run)),
                                      .watcher = caf::actor_cast<caf::actor>(watcher)});
    system.settle();
  }

  ~selector_fixture() {
    caf::anon_send_exit(selector, caf::exit_reason::user_shutdown);
    for (; drive->waiting > 0; --drive->waiting)
      gate->receive([](int n) { return n; });
    system.settle();
  }

  /// The disk answers what it was asked first.
  void let_write() {
    REQUIRE(drive->waiting > 0);
    --drive->waiting;
    gate->receive([](int n) { return n; });
    system.settle();
  }

  void evaluate(candidate_id id, double fitness, bytes weights = {}) {
    evaluations message;
    evaluation e{.id = id, .metrics = {{"validation.accuracy", fitness}}};
    message.batch.push_back({e, std::move(weights)});
    caf::anon_send(selector, message);
    system.settle();
  }

  void crash(candidate_id id, const std::string& reason) {
    evaluations message;
    message.batch.push_back(
        {{.id = id, .outcome = outcome::crashed, .reason = reason}, {}});
    caf::anon_send(selector, message);
    system.settle();
  }

  void evaluate_all() {
    for (const auto& c : std::exchange(nodes->candidates, {}))
      evaluate(c.id, 1.0 / static_cast<double>(c.id));
  }

  bool over() {
    bool result = false;
    watcher->receive([&](run_over) { result = true; }, caf::after(0ms) >> [] {});
    return result;
  }

  run_progress progress() {
    run_progress result;
    auto request = watcher->request(selector, caf::infinite, progress_query{});
    system.settle();
    request.receive([&](const run_progress& p) { result = p; }, [](caf::error&) {});
    return result;
  }

  template<class T>
  std::size_t count() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        drive->written, [](const record& r) { return std::holds_alternative<T>(r); }));
  }
};

} // namespace clade::test
