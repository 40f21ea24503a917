#include "actors/head/selector.hpp"
#include "genome/hash.hpp"
#include "genome/mutation.hpp"
#include "tests/actors/test_system.hpp"
#include "tests/support/genomes.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace clade;
using namespace std::chrono_literals;

namespace {

/// An archive whose disk answers when the test lets it.
struct disk {
  std::vector<record> written;
  std::set<candidate_id> weights; ///< Whose weights it holds.
  std::size_t waiting = 0;
  caf::actor gate; ///< Answers when the disk may.
  std::optional<error> fails;
  bool slow = false;
};

appended written(const disk& d) {
  if (d.fails)
    return {tl::unexpected(*d.fails)};
  return {store::place{}};
}

archive_actor::behavior_type stub_archive(archive_actor::pointer self,
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

generator_actor::behavior_type stub_generator(generator_actor::pointer) {
  return {[](const breeding_orders& wanted) {
    brood made;
    for (const auto& o : wanted.orders) {
      random_stream random({.seed = 1, .index = o.id, .attempt = o.attempt});
      candidate c{
          .id = o.id, .generation = o.generation, .index = o.index, .attempt = o.attempt};
      c.genome =
          std::make_shared<const genome>(sample_genome(test::small_grammar(), random));
      c.network = canonical_hash(*c.genome);
      for (const auto& p : o.parents)
        c.parents.push_back(p.id);
      c.changes = {{.after = "stub"}};
      made.candidates.push_back(std::move(c));
    }
    return made;
  }};
}

/// What the dispatcher was given; the test plays the nodes.
struct handed {
  std::vector<candidate> candidates;
  std::vector<candidate_id> takes_back;
  std::vector<candidate_id> dropped;
  bool held = false;
  int tests = 0;
};

dispatcher_actor::behavior_type stub_dispatcher(dispatcher_actor::pointer,
                                                std::shared_ptr<handed> h) {
  return {
      [](const node_hello&, const link_actor&) { return node_welcome{}; },
      [](const node_ready&) {},
      [](const results&) { return taken{}; },
      [](const epoch_passed&) {},
      [](const heartbeat&) { return heartbeat_answer{}; },
      [](const leaving&) { return may_leave{}; },
      [](const fetch_chunk&) { return chunk{}; },
      [](const fetch_piece&) { return chunk{}; },
      [](const piece&) { return piece_taken{}; },
      [](tick) {},
      [](serve_nodes) {},
      [](const selector_actor&) {},
      [h](const submission& s) {
        h->candidates.insert(h->candidates.end(), s.candidates.begin(),
                             s.candidates.end());
      },
      [h](withdraw) { return withdrawn{h->takes_back}; },
      [h](const hold_back& message) { h->held = message.on; },
      [h](const drop_candidate& message) { h->dropped.push_back(message.id); },
      [h](const test_request& t) {
        ++h->tests;
        return test_answer{std::optional(examination{.id = t.what.id.candidate})};
      },
      [](slots_query) { return slots_view{}; },
      [](const leave&) {},
  };
}

struct fixture {
  test::test_system system;
  std::shared_ptr<disk> drive = std::make_shared<disk>();
  std::shared_ptr<handed> nodes = std::make_shared<handed>();
  caf::scoped_actor watcher{*system};
  caf::scoped_actor gate{*system};
  selector_actor selector;

  explicit fixture(bool slow_disk = false) {
    drive->slow = slow_disk;
    drive->gate = caf::actor_cast<caf::actor>(gate);
    evolution_params evolution{
        .population = 4, .generations = 2, .tournament = 2, .elites = 1};
    auto run = make_run_state({.evolution = evolution, .objective = {}, .seed = 1});
    REQUIRE(run);
    REQUIRE(apply(*run, run_started{.version = "1", .experiment = "", .seed = 1}));
    selector =
        system->spawn(selector_behavior,
                      selector_params{.archive = system->spawn(stub_archive, drive),
                                      .dispatcher = system->spawn(stub_dispatcher, nodes),
                                      .generators = {system->spawn(stub_generator)},
                                      .run = std::make_shared<run_state>(std::move(*run)),
                                      .watcher = caf::actor_cast<caf::actor>(watcher)});
    system.settle();
  }

  ~fixture() {
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

} // namespace

TEST_CASE("selector: candidates are handed out only when the disk has their birth") {
  fixture f(true);
  CHECK(f.count<candidate_born>() == 4);
  CHECK(f.nodes->candidates.empty());
  f.let_write();
  CHECK(f.nodes->candidates.size() == 4);
}

TEST_CASE(
    "selector: a generation begins only when the disk has all evaluations of the last") {
  fixture f(true);
  f.let_write();
  f.evaluate_all();
  CHECK(f.count<candidate_born>() == 4);
  CHECK(f.count<generation_closed>() == 0);
  f.let_write(); // The first evaluation; the others came meanwhile and share the next
                 // append.
  CHECK(f.count<candidate_evaluated>() == 4);
  CHECK(f.count<generation_closed>() == 0);
  f.let_write();
  CHECK(f.count<generation_closed>() == 1);
  CHECK(f.count<candidate_born>() == 4);
  f.let_write();
  CHECK(f.count<candidate_born>() > 4);
}

TEST_CASE("selector: a run ends with its champion examined and recorded") {
  fixture f;
  f.evaluate_all();
  f.evaluate_all();
  REQUIRE(f.over());
  REQUIRE(f.count<run_finished>() == 1);
  const auto& last = std::get<run_finished>(f.drive->written.back());
  CHECK(last.champion == 1);
  CHECK(f.progress().finished.has_value());
  // Champion and linear model; the best random candidate is the champion itself.
  CHECK(f.nodes->tests == 2);
  CHECK(last.examinations.size() == 2);
}

TEST_CASE("selector: the champion's weights are on the disk when the run ends") {
  fixture f;
  // Each is fitter than all before it.
  for (int generation = 0; generation < 2; ++generation)
    for (const auto& c : std::exchange(f.nodes->candidates, {}))
      f.evaluate(c.id, static_cast<double>(c.id) / 100, "weights");
  REQUIRE(f.over());
  const auto champion = std::get<run_finished>(f.drive->written.back()).champion;
  CHECK(f.drive->weights.contains(champion));
  CHECK(f.drive->weights.size() < f.count<candidate_evaluated>());
}

TEST_CASE(
    "selector: a disk that fails ends the run at once with nothing more handed out") {
  fixture f(true);
  f.drive->fails = error{error_kind::io, "disk full"};
  f.let_write();
  CHECK(f.over());
  CHECK(f.progress().failure == error{error_kind::io, "disk full"});
  CHECK(f.nodes->candidates.empty());
}

TEST_CASE("selector: told to stop it records what is in training and pauses") {
  fixture f;
  REQUIRE(f.nodes->candidates.size() == 4);
  f.nodes->takes_back = {2, 3, 4};
  caf::anon_send(f.selector, stop_run{"interrupted"});
  f.system.settle();
  CHECK_FALSE(f.over());
  f.evaluate(1, 0.5);
  CHECK(f.over());
  CHECK(f.count<candidate_evaluated>() == 1);
  REQUIRE(std::holds_alternative<run_paused>(f.drive->written.back()));
  CHECK(std::get<run_paused>(f.drive->written.back()).reason == "interrupted");
}

TEST_CASE("selector: a search that is complete ends though its time is used") {
  fixture f;
  f.evaluate_all();
  auto rest = std::exchange(f.nodes->candidates, {});
  REQUIRE_FALSE(rest.empty());
  caf::anon_send(f.selector, stop_run{"wall time used", true});
  f.system.settle();
  for (const auto& c : rest)
    f.evaluate(c.id, 0.01);
  CHECK(f.over());
  CHECK(f.count<run_finished>() == 1);
  CHECK(f.count<run_paused>() == 0);
  CHECK(f.nodes->tests > 0);
}

TEST_CASE("selector: a search that is not complete pauses when its time is used") {
  fixture f;
  f.nodes->takes_back = {2, 3, 4};
  caf::anon_send(f.selector, stop_run{"wall time used", true});
  f.system.settle();
  CHECK_FALSE(f.over());
  f.evaluate(1, 0.5);
  REQUIRE(f.over());
  CHECK(f.nodes->tests == 0);
  CHECK(std::get<run_paused>(f.drive->written.back()).reason == "wall time used");
}

TEST_CASE("selector: an interrupt pauses a search that was to end") {
  fixture f;
  f.nodes->takes_back = {2, 3, 4};
  caf::anon_send(f.selector, stop_run{"wall time used", true});
  f.system.settle();
  caf::anon_send(f.selector, stop_run{"interrupted"});
  f.system.settle();
  f.evaluate(1, 0.5);
  REQUIRE(f.over());
  CHECK(std::get<run_paused>(f.drive->written.back()).reason == "interrupted");
}

namespace {

std::string tell(fixture& f, instruction order) {
  std::string answer = "no answer";
  caf::scoped_actor self(*f.system);
  auto asked = self->request(f.selector, caf::infinite, told{std::move(order), "ada"});
  f.system.settle();
  asked.receive([&](const std::string& a) { answer = a; }, [](caf::error&) {});
  return answer;
}

} // namespace

TEST_CASE("selector: what a person orders is recorded before it is done") {
  fixture f(true);
  f.let_write(); // The births.
  REQUIRE(f.drive->waiting == 0);
  CHECK(tell(f, {.kind = instruction_kind::hold}).empty());
  CHECK_FALSE(f.nodes->held);
  f.let_write();
  CHECK(f.nodes->held);
  REQUIRE(f.count<operator_command>() == 1);
  CHECK(tell(f, {.kind = instruction_kind::hold}) == "the run is held already");
  CHECK(tell(f, {.kind = instruction_kind::go_on}).empty());
  f.let_write();
  CHECK_FALSE(f.nodes->held);
  CHECK(tell(f, {.kind = instruction_kind::go_on}) == "the run is not held");
}

TEST_CASE(
    "selector: notes and tags are recorded while it stops, and refused at the end") {
  fixture f;
  const auto tag = [](candidate_id id, const char* text) {
    return instruction{.kind = instruction_kind::tag, .number = id, .text = text};
  };
  CHECK(tell(f, tag(1, "good")).empty());
  CHECK(tell(f, tag(1, "good")) == "#1 has the tag good already");
  CHECK(tell(f, tag(99, "good")) == "there is no candidate #99");
  CHECK(tell(f, {.kind = instruction_kind::stop_after}).empty());
  CHECK(tell(f, {.kind = instruction_kind::note, .number = 0, .text = "slow"}).empty());
  CHECK(f.count<operator_command>() == 3);
  for (candidate_id id = 1; id <= 4; ++id)
    f.evaluate(id, 0.1 * static_cast<double>(id));
  REQUIRE(f.over());
  CHECK(tell(f, tag(2, "good")) == "the run is at its end");
}

TEST_CASE("selector: only an open candidate is dropped") {
  fixture f;
  CHECK(tell(f, {.kind = instruction_kind::drop, .number = 2}).empty());
  CHECK(f.nodes->dropped == std::vector<candidate_id>{2});
  CHECK(tell(f, {.kind = instruction_kind::drop, .number = 77}) == "#77 is not open");
  f.evaluate(1, 0.5);
  CHECK(tell(f, {.kind = instruction_kind::drop, .number = 1}) == "#1 is not open");
}

TEST_CASE("selector: told to stop after the generation it pauses when that is closed") {
  fixture f;
  CHECK(tell(f, {.kind = instruction_kind::stop_after}).empty());
  for (candidate_id id = 1; id <= 4; ++id) {
    CHECK_FALSE(f.over());
    f.evaluate(id, 0.1 * static_cast<double>(id));
  }
  CHECK(f.over());
  CHECK(f.count<generation_closed>() == 1);
  CHECK(std::get<run_paused>(f.drive->written.back()).reason
        == "stopped by ada after generation 0");
  CHECK(tell(f, {.kind = instruction_kind::stop}) == "the run is at its end");
}

TEST_CASE("selector: slots that cannot be are refused and not recorded") {
  fixture f;
  CHECK(tell(f, {.kind = instruction_kind::slots, .text = "cpu:3"})
        == "nobody can look at it");
  CHECK(f.count<operator_command>() == 0);
}

TEST_CASE("selector: a search whose candidates all fail ends without a champion") {
  fixture f;
  for (int generation = 0; generation < 2; ++generation)
    for (const auto& c : std::exchange(f.nodes->candidates, {})) {
      evaluations message;
      message.batch.push_back({evaluation{.id = c.id, .outcome = outcome::diverged}, {}});
      caf::anon_send(f.selector, message);
      f.system.settle();
    }
  REQUIRE(f.over());
  CHECK(std::get<run_finished>(f.drive->written.back()).champion == 0);
  CHECK(f.nodes->tests == 0);
}
