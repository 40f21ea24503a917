#include "actors/node/node_work.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>
#include <sys/mman.h>
#include <sys/resource.h>

#include <future>

using namespace clade;
using namespace std::chrono_literals;

namespace {

/// A fitness function of a `node_work`: it keeps what it was asked, and answers as told.
struct scripted_fitness {
  const node_work* asks = nullptr; ///< The one whose task at work is noted at each call.
  candidate_id fails_at = 0;       ///< The candidate whose evaluation crashes.
  std::optional<error> cannot_warm_up;
  /// An evaluation says that it has begun and waits, where these are there.
  std::promise<void>* begun = nullptr;
  std::shared_future<void> may_end{};

  std::vector<job> evaluated, examined;
  std::vector<std::optional<node_work::current>> at_work;
  std::optional<budget> composed_within;
};

class scripted_function final : public fitness_function {
public:
  explicit scripted_function(scripted_fitness& script) : script_(script) {}

  expected<std::uint64_t> warm_up() override {
    if (script_.cannot_warm_up)
      return tl::unexpected(*script_.cannot_warm_up);
    return 77;
  }

  evaluated_job evaluate(const job& j, progress&) override {
    note();
    script_.evaluated.push_back(j);
    if (script_.begun != nullptr) {
      script_.begun->set_value();
      script_.may_end.wait();
    }
    evaluated_job done{.evaluation = {.id = j.id}};
    done.checkpoint = blob("of #" + std::to_string(j.id));
    if (j.id == script_.fails_at) {
      done.evaluation.outcome = outcome::crashed;
      done.evaluation.reason = "it fell over";
    }
    return done;
  }

  expected<examination> examine(const job& j, const bytes& weights) override {
    note();
    script_.examined.push_back(j);
    return examination{.subject = weights, .id = j.id};
  }

  expected<composition> compose(std::span<const trained_member>, std::uint64_t,
                                const budget& within, composition_purpose) override {
    note();
    script_.composed_within = within;
    return composition{};
  }

private:
  void note() const {
    if (script_.asks != nullptr)
      script_.at_work.push_back(script_.asks->at_work());
  }

  scripted_fitness& script_;
};

/// The kind of evaluator whose functions follow the script.
class scripted_spec final : public evaluator_spec {
public:
  explicit scripted_spec(scripted_fitness& script) : script_(script) {}

  [[nodiscard]] const evaluator_traits& traits() const override {
    static const evaluator_traits all{.name = "scripted", .runs_program = true};
    return all;
  }
  [[nodiscard]] std::unique_ptr<evaluator_spec> clone() const override {
    return std::make_unique<scripted_spec>(script_);
  }
  [[nodiscard]] std::uint32_t epochs() const override { return 12; }
  [[nodiscard]] std::chrono::milliseconds grace() const override { return 300ms; }
  [[nodiscard]] expected<std::unique_ptr<fitness_function>>
  make(evaluator_setup) const override {
    return std::make_unique<scripted_function>(script_);
  }

private:
  scripted_fitness& script_;
};

/// The work of a process whose experiment gives each evaluation 5 s.
struct fixture {
  scripted_fitness script;
  scratch_folder logs;
  node_work work;
  experiment e;

  fixture() {
    script.asks = &work;
    e.seed = 42;
    e.evaluator = std::make_shared<scripted_spec>(script);
    e.limits.evaluation_time = 5s;
  }

  [[nodiscard]] expected<void> prepare() {
    return work.prepare(e, "cpu", 0, {.logs = logs.path()});
  }

  evaluated_job evaluate(const job& j, std::uint64_t lease = 1) {
    unheard_progress nobody;
    return work.evaluate(j.id, lease, j, nobody);
  }
};

job job_of_epochs(candidate_id id, std::uint32_t epochs = 0) {
  job j{.id = id};
  j.budget.epochs = epochs;
  return j;
}

} // namespace

TEST_CASE("node work: a job has what the experiment says, but for what it says itself") {
  fixture f;
  REQUIRE(f.prepare());
  CHECK(f.work.rounding() == 77);
  CHECK_FALSE(f.work.trains());
  auto short_one = job_of_epochs(2, 3);
  short_one.budget.time = 1s;
  f.evaluate(job_of_epochs(1));
  f.evaluate(short_one);
  REQUIRE(f.script.evaluated.size() == 2);
  const auto &usual = f.script.evaluated[0], &own = f.script.evaluated[1];
  CHECK(usual.budget.epochs == 12);
  CHECK(usual.budget.time == 5s);
  CHECK(own.budget.epochs == 3);
  CHECK(own.budget.time == 1s);
  for (const auto* j : {&usual, &own}) {
    CHECK(j->seed == 42);
    CHECK(j->budget.horizon == 12);
    CHECK(j->logs == f.logs.path());
    CHECK(j->positions.empty());
  }
}

TEST_CASE("node work: any thread sees what is at work, from its begin to its end") {
  fixture f;
  REQUIRE(f.prepare());
  CHECK_FALSE(f.work.at_work());
  std::promise<void> begun, may_end;
  f.script.begun = &begun;
  f.script.may_end = may_end.get_future().share();
  auto evaluates =
      std::async(std::launch::async, [&] { return f.evaluate(job_of_epochs(8), 31); });
  begun.get_future().wait();
  const auto now = f.work.at_work();
  may_end.set_value();
  CHECK(evaluates.get().evaluation.id == 8);
  REQUIRE(now);
  CHECK(now->task == task_id{8, task_type::train});
  CHECK(now->lease == 31);
  CHECK(now->limit == 5s + 300ms); // The evaluator's grace comes on top.
  CHECK_FALSE(f.work.at_work());
}

TEST_CASE("node work: without a limit of time there is no grace either") {
  fixture f;
  f.e.limits.evaluation_time = 0ms;
  REQUIRE(f.prepare());
  f.evaluate(job_of_epochs(1));
  auto limited = job_of_epochs(2);
  limited.budget.time = 2s;
  f.evaluate(limited);
  REQUIRE(f.script.at_work.size() == 2);
  CHECK(f.script.at_work[0].value().limit == 0ms);
  CHECK(f.script.at_work[1].value().limit == 2s + 300ms);
}

TEST_CASE("node work: a lineage is trained again, and its last is examined instead") {
  fixture f;
  REQUIRE(f.prepare());
  unheard_progress nobody;
  const auto tested = f.work.examine(9, job_of_epochs(6, 4), "weights",
                                     {job_of_epochs(2, 1), job_of_epochs(5)}, nobody);
  REQUIRE(tested);
  CHECK(tested->id == 6);
  CHECK(tested->subject == "weights");
  REQUIRE(f.script.evaluated.size() == 2);
  CHECK(f.script.evaluated[0].id == 2);
  CHECK(f.script.evaluated[0].budget.epochs == 1);
  CHECK(f.script.evaluated[1].checkpoint == blob("of #2"));
  CHECK(f.script.evaluated[1].budget.epochs == 12);
  REQUIRE(f.script.examined.size() == 1);
  CHECK(f.script.examined[0].checkpoint == blob("of #5"));
  CHECK(f.script.examined[0].seed == 42);
  // Each of them is at work for the test of the last, and has its own time.
  REQUIRE(f.script.at_work.size() == 3);
  for (const auto& now : f.script.at_work) {
    REQUIRE(now);
    CHECK(now->task == task_id{6, task_type::test});
    CHECK(now->lease == 9);
    CHECK(now->limit == 5s + 300ms);
  }
}

TEST_CASE("node work: where its lineage fails nothing is examined, and it says why") {
  fixture f;
  f.script.fails_at = 2;
  REQUIRE(f.prepare());
  unheard_progress nobody;
  const auto tested = f.work.examine(9, job_of_epochs(6), {},
                                     {job_of_epochs(2), job_of_epochs(5)}, nobody);
  REQUIRE_FALSE(tested);
  CHECK(tested.error().message
        == "#2, from which it starts, crashed when trained again: it fell over");
  CHECK(f.script.evaluated.size() == 1);
  CHECK(f.script.examined.empty());
  CHECK_FALSE(f.work.at_work());
}

TEST_CASE("node work: a final model has the longer of its time and the experiment's") {
  for (const auto said : {1s, 60s}) {
    fixture f;
    REQUIRE(f.prepare());
    REQUIRE(f.work.compose(4, {}, {.epochs = 0, .time = said},
                           composition_purpose::final_model));
    REQUIRE(f.script.composed_within);
    CHECK(f.script.composed_within->time == said);
    REQUIRE(f.script.at_work.size() == 1);
    CHECK(f.script.at_work[0].value().task == task_id{0, task_type::compose});
    CHECK(f.script.at_work[0].value().limit
          == std::max<std::chrono::milliseconds>(5s, said) + 300ms);
  }
}

TEST_CASE("node work: what is dropped stays so until it is forgotten") {
  fixture f;
  CHECK_FALSE(f.work.dropped(3));
  f.work.drop(3);
  CHECK(f.work.dropped(3));
  CHECK_FALSE(f.work.dropped(4));
  f.work.forget_dropped(3);
  CHECK_FALSE(f.work.dropped(3));
}

TEST_CASE("node work: who waits for the team of a lease that is dropped waits no more") {
  fixture f;
  CHECK(f.work.begin_team(3, 2) == nullptr);
  f.work.open_to_teams(std::make_shared<team_entrance>());
  const auto team = f.work.begin_team(3, 2);
  REQUIRE(team);
  CHECK(f.work.team_of(3) == team);
  CHECK(f.work.team_of(4) == nullptr);
  auto waits = std::async(std::launch::async, [&] {
    try {
      static_cast<void>(team->form());
    } catch (const task_dropped&) {
      return true;
    }
    return false;
  });
  f.work.drop(3);
  CHECK(waits.get());
  f.work.forget_dropped(3);
  CHECK(f.work.team_of(3) == nullptr);
}

TEST_CASE("node work: what cannot warm up cannot be prepared, and the error says why") {
  fixture f;
  f.script.cannot_warm_up = error{error_kind::io, "there is no device"};
  const auto prepared = f.prepare();
  REQUIRE_FALSE(prepared);
  CHECK(prepared.error().message == "there is no device");
  CHECK(f.work.rounding() == 0);
}

TEST_CASE("node work: an experiment's memory is what its process may take more") {
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_DATA, &before) == 0);
  constexpr std::size_t memory = std::size_t{1} << 30;
  fixture f;
  f.e.limits.evaluation_memory = memory;
  const auto prepared = f.prepare();
  const auto take = [](std::size_t bytes) {
    void* const taken = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return taken != MAP_FAILED && ::munmap(taken, bytes) == 0;
  };
  const bool half = take(memory / 2), all = take(memory + (memory >> 4));
  REQUIRE(::setrlimit(RLIMIT_DATA, &before) == 0);
  CHECK(prepared);
  CHECK(half);
  CHECK_FALSE(all);
}
