#include "engine/evaluation/synthetic/synthetic.hpp"
#include "engine/search/core/strategy.hpp"
#include "genome/genes/hash.hpp"
#include "tests/support/content_of.hpp"
#include "tests/support/listener.hpp"
#include "tests/support/small_space.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <fstream>
#include <functional>
#include <set>

using namespace clade;

namespace {

genome a_genome(std::uint64_t index = 0) {
  auto random = derive(3, purpose::sample, 0, index);
  return sample(small_space(), small_problem(), random).value().child;
}

job a_job(candidate_id id = 1, std::uint64_t seed = 1) {
  job j;
  j.id = id;
  j.genome = a_genome();
  j.seed = seed;
  return j;
}

std::unique_ptr<fitness_function> a_synthetic(const synthetic_params& params = {},
                                              const objective& goal = {}) {
  return make_synthetic({.params = params,
                         .space = small_space(),
                         .problem = small_problem(),
                         .goal = goal});
}

evaluated_job evaluated(const job& j, const synthetic_params& params = {},
                        const objective& goal = {}) {
  listener listening;
  return a_synthetic(params, goal)->evaluate(j, listening);
}

double score(const genome& g, std::uint64_t seed = 1) {
  auto j = a_job(1, seed);
  j.genome = g;
  return find(evaluated(j).evaluation.metrics, "validation.accuracy").value();
}

/// How a process of its own ends that evaluates this.
int status_of_child(const std::function<int()>& body) {
  const auto child = fork();
  if (child == 0)
    _exit(body());
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return status;
}

} // namespace

TEST_CASE("synthetic: an evaluation is a pure function of genome and seed and id") {
  const auto once = evaluated(a_job()).evaluation, again = evaluated(a_job()).evaluation;
  CHECK(once.outcome == outcome::succeeded);
  CHECK(once.metrics == again.metrics);
  CHECK(once.parameters == again.parameters);
  CHECK(once.weights_hash == again.weights_hash);
  CHECK(score(a_genome(), 1) != score(a_genome(), 2));
  CHECK(evaluated(a_job(2)).evaluation.weights_hash != once.weights_hash);
}

TEST_CASE("synthetic: the parameters are those of the network that is decoded") {
  for (std::uint64_t i = 0; i < 20; ++i) {
    auto j = a_job();
    j.genome = a_genome(i);
    const auto network = decode(small_space(), j.genome, small_problem()).value();
    CHECK(evaluated(j).evaluation.parameters == network.cost().parameters);
    CHECK(a_synthetic()->examine(j, {}).value().parameters == network.cost().parameters);
  }
}

TEST_CASE("synthetic: a genome that does not decode is invalid") {
  auto j = a_job();
  j.genome.edges.clear();
  const auto e = evaluated(j).evaluation;
  CHECK(e.outcome == outcome::invalid);
  CHECK_FALSE(e.reason.empty());
  CHECK_FALSE(a_synthetic()->examine(j, {}));
}

TEST_CASE("synthetic: scores lie between 0 and 1 and differ between genomes") {
  std::set<double> scores;
  for (std::uint64_t i = 0; i < 200; ++i) {
    const auto s = score(a_genome(i));
    CHECK((s >= 0 && s <= 1));
    scores.insert(s);
  }
  CHECK(scores.size() > 190);
}

TEST_CASE("synthetic: equal networks score alike whatever their innovations") {
  genome g;
  const auto dense = [](std::uint64_t id, std::int64_t units) {
    return node_gene{innovation{id}, "dense", {{"activation", "relu"}, {"units", units}}};
  };
  g.nodes = {{input_innovation, "input", {}},
             {output_innovation, "output", {}},
             dense(5, 8),
             dense(6, 32),
             dense(7, 16)};
  const auto wire = [](std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    return std::vector<edge_gene>{{innovation{20}, input_innovation, innovation{a}},
                                  {innovation{21}, innovation{a}, innovation{b}},
                                  {innovation{22}, innovation{b}, innovation{c}},
                                  {innovation{23}, innovation{c}, output_innovation}};
  };
  g.edges = wire(5, 6, 7);
  g.hyperparameters = a_genome().hyperparameters;
  auto renamed = g;
  renamed.nodes[2] = dense(5, 16);
  renamed.nodes[4] = dense(7, 8);
  renamed.edges = wire(7, 6, 5);
  REQUIRE(canonical_hash(g) == canonical_hash(renamed));
  CHECK(score(g) == score(renamed));
}

TEST_CASE("synthetic: what is not live does not count") {
  auto g = a_genome();
  const auto before = score(g);
  g.nodes.push_back({innovation{~0ULL}, "dense", {{"units", std::int64_t{64}}}});
  CHECK(score(g) == before);
}

TEST_CASE("synthetic: a small change of a setting is a small change of the score") {
  auto g = a_genome();
  double last = -1, largest = 0;
  std::set<double> scores;
  for (int i = 0; i <= 100; ++i) {
    assign(g.hyperparameters, "learning_rate", 1e-4 * std::pow(1000.0, i / 100.0));
    const auto s = score(g);
    if (i > 0)
      largest = std::max(largest, std::abs(s - last));
    last = s;
    scores.insert(s);
  }
  CHECK(largest < 0.01);
  CHECK(scores.size() > 90);
}

TEST_CASE("synthetic: the objective is among the metrics and rises with the score") {
  const auto e = evaluated(a_job(), {}, {.metric = "validation.error", .maximize = false})
                     .evaluation;
  REQUIRE(e.metrics.size() == 3);
  CHECK(std::is_sorted(e.metrics.begin(), e.metrics.end(),
                       [](const auto& a, const auto& b) { return a.name < b.name; }));
  CHECK(find(e.metrics, "validation.error") == find(e.metrics, "validation.loss"));
  CHECK(find(e.metrics, "validation.loss").value()
        == 1 - find(e.metrics, "validation.accuracy").value());
  CHECK(evaluated(a_job()).evaluation.metrics.size() == 2);
}

TEST_CASE("synthetic: epochs are reported as they end") {
  listener listening;
  const auto e = a_synthetic({.epochs = 3})->evaluate(a_job(), listening).evaluation;
  REQUIRE(listening.heard.size() == 3);
  CHECK(listening.heard == e.curve);
  CHECK(e.curve[2].number == 3);
  CHECK(e.curve[2].metrics == e.metrics);
  CHECK(e.curve[0].metrics != e.metrics);
}

TEST_CASE("synthetic: a part of the epochs gives that part of the score") {
  auto j = a_job();
  const synthetic_params nine{.epochs = 9};
  const auto whole = evaluated(j, nine).evaluation;
  j.budget.epochs = 3;
  const auto part = evaluated(j, nine).evaluation;
  CHECK(part.curve.size() == 3);
  CHECK(part.metrics == whole.curve[2].metrics);
  CHECK(find(part.metrics, "validation.accuracy")
        == find(whole.metrics, "validation.accuracy").value() * 3 / 9);
  CHECK(find(a_synthetic(nine)->examine(j, {}).value().metrics, "test.accuracy")
        == find(part.metrics, "validation.accuracy"));
}

TEST_CASE("synthetic: what goes on pays for its further epochs alone") {
  auto j = a_job();
  const synthetic_params nine{.duration = std::chrono::milliseconds(9), .epochs = 9};
  const auto whole = evaluated(j, nine).evaluation;
  j.start = 5;
  j.start_epoch = 8;
  const auto rest = evaluated(j, nine).evaluation;
  CHECK(rest.metrics == whole.metrics);
  REQUIRE(rest.curve.size() == 1);
  CHECK(rest.curve[0] == whole.curve[8]);
  CHECK(whole.seconds >= 0.0045);               // At least half of 9 ms,
  CHECK(rest.seconds >= 0.0005);                // and a ninth of that.
  j.budget.time = std::chrono::milliseconds(3); // Not enough for the whole.
  CHECK(evaluated(j, nine).evaluation.outcome == outcome::succeeded);
}

TEST_CASE("synthetic: who hears of an epoch can end it") {
  listener listening;
  listening.patience = 2;
  const auto e = a_synthetic({.epochs = 9})->evaluate(a_job(), listening).evaluation;
  CHECK(listening.heard.size() == 2);
  CHECK(e.outcome == outcome::timed_out);
  CHECK(e.metrics.empty());
}

TEST_CASE("synthetic: what takes longer than its budget is timed out") {
  auto j = a_job();
  j.budget.time = std::chrono::milliseconds(1);
  const auto e =
      evaluated(j, {.duration = std::chrono::hours(1), .epochs = 4}).evaluation;
  CHECK(e.outcome == outcome::timed_out);
  CHECK(e.reason == "takes longer than 1 ms");
  CHECK(e.seconds >= 0.001);
}

TEST_CASE("synthetic: the time is spent") {
  const auto e =
      evaluated(a_job(), {.duration = std::chrono::milliseconds(4)}).evaluation;
  CHECK(e.outcome == outcome::succeeded);
  CHECK(e.seconds >= 0.002);
}

TEST_CASE(
    "synthetic: weights come when they are worth it and are those of the candidate") {
  auto j = a_job();
  CHECK(evaluated(j).weights.empty());
  j.keep_weights_above = -1;
  const auto kept = evaluated(j);
  CHECK(kept.weights.size() == 32);
  CHECK(kept.weights.checksum() == kept.evaluation.weights_hash);
  j.keep_weights_above = find(kept.evaluation.metrics, "validation.accuracy").value();
  CHECK(evaluated(j).weights.empty());
}

TEST_CASE("synthetic: the examination takes its own weights or none and refuses others") {
  auto j = a_job();
  j.keep_weights_above = -1;
  const auto fitness = a_synthetic();
  const auto weights = test::content_of(evaluated(j).weights);
  const auto with = fitness->examine(j, weights), without = fitness->examine(j, {});
  REQUIRE(with);
  REQUIRE(without);
  CHECK(with->id == 1);
  CHECK(with->metrics == without->metrics);
  CHECK(find(with->metrics, "test.accuracy").value() == score(j.genome));
  const auto other = fitness->examine(a_job(2), weights);
  REQUIRE_FALSE(other);
  CHECK(other.error().kind == error_kind::corrupt);
  CHECK_FALSE(fitness->baseline(1, {}).value());
  CHECK(fitness->warm_up());
}

TEST_CASE("synthetic: so large a share misbehaves and always the same candidates") {
  std::size_t diverged = 0;
  for (candidate_id id = 1; id <= 2000; ++id) {
    const auto once = evaluated(a_job(id), {.diverge = 0.25}).evaluation;
    diverged += once.outcome == outcome::diverged ? 1 : 0;
    if (once.outcome == outcome::diverged) {
      CHECK(once.metrics.empty());
      CHECK_FALSE(once.reason.empty());
    }
    REQUIRE(evaluated(a_job(id), {.diverge = 0.25}).evaluation.outcome == once.outcome);
  }
  CHECK(diverged > 440);
  CHECK(diverged < 560);
}

TEST_CASE("synthetic: a crash is a real one") {
  const auto status = status_of_child([] {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    static_cast<void>(evaluated(a_job(), {.crash = 1}));
    return 0;
  });
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGSEGV);
}

TEST_CASE("synthetic: a hang ends by a signal alone") {
  const auto status = status_of_child([] {
    const itimerval soon{{0, 0}, {0, 50'000}};
    std::signal(SIGALRM, SIG_DFL);
    setitimer(ITIMER_REAL, &soon, nullptr);
    static_cast<void>(evaluated(a_job(), {.hang = 1}));
    return 0;
  });
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGALRM);
}

// AddressSanitizer's allocator ends the process where memory is limited.
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if !__has_feature(address_sanitizer)
TEST_CASE("synthetic: a hog takes all memory there is and says so") {
  const auto status = status_of_child([] {
    std::size_t pages = 0; // that tests before this one mapped already
    std::ifstream{"/proc/self/statm"} >> pages;
    const auto most =
        pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + (512 << 20);
    const rlimit room{most, most};
    setrlimit(RLIMIT_AS, &room);
    rusage used{};
    const auto e = evaluated(a_job(), {.hog = 1}).evaluation;
    getrusage(RUSAGE_SELF, &used);
    return e.outcome == outcome::out_of_memory && used.ru_maxrss > 256 << 10 ? 42 : 1;
  });
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 42);
}
#endif

TEST_CASE("synthetic: parameters out of range are named") {
  const auto message = [](const synthetic_params& p) {
    const auto valid = validate(p);
    return valid ? "" : valid.error().message;
  };
  CHECK(message({}).empty());
  CHECK(message({.crash = 1.5}) == "synthetic.crash is 1.5: it is a share, from 0 to 1");
  CHECK_FALSE(message({.hog = std::nan("")}).empty());
  CHECK_FALSE(message({.diverge = 0.5, .crash = 0.3, .hang = 0.3}).empty());
  CHECK_FALSE(message({.duration = std::chrono::microseconds(-1)}).empty());
  CHECK(message({.epochs = 0}) == "synthetic.epochs is 0: at least 1");
}

TEST_CASE("synthetic: what a network costs is a metric where the goal asks for it") {
  const objective goal{.others = {{"multiply_adds", false}, {"parameters", false}},
                       .constraints = {{.metric = "latency_ms", .limit = 1}}};
  const auto plain = evaluated(a_job()).evaluation;
  const auto e = evaluated(a_job(), {}, goal).evaluation;
  const auto work =
      decode(small_space(), a_genome(), small_problem())->cost().multiply_adds;
  CHECK(find(e.metrics, "multiply_adds") == static_cast<double>(work));
  CHECK(find(e.metrics, "latency_ms") == static_cast<double>(work) * 1e-6);
  CHECK(fitness_of(e, goal).objectives.size() == 3);
  CHECK(std::ranges::is_sorted(e.metrics, {}, &metric::name));
  // Nothing else changes: neither epochs, nor the other metrics.
  CHECK(e.curve.front().metrics == plain.curve.front().metrics);
  CHECK(plain.metrics.size() + 2 == e.metrics.size());
}
