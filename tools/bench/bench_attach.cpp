#include "tools/bench/bench_attach.hpp"

#include "engine/store/sqlite/run_folder.hpp"
#include "engine/telemetry/feeds/live_feed.hpp"
#include "tools/bench/bench_experiment.hpp"
#include "tools/machine/slots.hpp"
#include "tools/machine/supervisor.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>
#include <optional>
#include <thread>

// The same search in turns without viewers and with them: real processes, some of them
// stopped. Candidates take time and no core, so that what is compared is what watching
// costs the run, and not what viewers take from trainers.

namespace clade {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

struct attach_options {
  std::size_t viewers = 50, stopped = 10;
  std::size_t candidates = 400;
  std::string duration = "200ms";
  std::size_t rounds = 3;
  std::string slots = "4";
  fs::path space = "search_spaces/mlp.toml";
  fs::path runs = "runs";
};

/// Viewers of a run, as processes; the first so many are stopped once they watch.
class audience {
public:
  audience(const attach_options& options, fs::path folder)
      : options_(options),
        folder_(std::move(folder)) {}

  ~audience() {
    for (const pid_t p : processes_) {
      ::kill(p, SIGKILL);
      ::waitpid(p, nullptr, 0);
    }
  }

  expected<void> start() {
    while (processes_.size() < options_.viewers) {
      auto started = start_process(
          {.command = {own_program().string(), "attach", folder_.string(), "--json"},
           .environment = {},
           .log = "/dev/null"});
      if (!started)
        return tl::unexpected(started.error());
      processes_.push_back(*started);
    }
    return {};
  }

  void stop_some() {
    if (std::exchange(stopped_, true))
      return;
    for (std::size_t i = 0; i < std::min(options_.stopped, processes_.size()); ++i)
      ::kill(processes_[i], SIGSTOP);
  }

private:
  attach_options options_;
  fs::path folder_;
  std::vector<pid_t> processes_;
  bool stopped_ = false;
};

double median(std::vector<double> values) {
  if (values.empty())
    return 0;
  std::ranges::sort(values);
  return values[values.size() / 2];
}

double now_ms() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// One more viewer, in this process: how long its first picture takes, and how much later
/// than its record an evaluation is there.
class stopwatch {
public:
  explicit stopwatch(fs::path store_file)
      : thread_([this, file = std::move(store_file)] { watch(file); }) {}

  ~stopwatch() { end(); }

  void end() {
    over_ = true;
    if (thread_.joinable())
      thread_.join();
  }

  double first_ms = 0;
  std::vector<double> late_ms;

private:
  void watch(const fs::path& file) {
    const auto begun = clock::now();
    const auto opened = open_feed(file);
    if (!opened)
      return;
    first_ms = std::chrono::duration<double, std::milli>(clock::now() - begun).count();
    while (!over_) {
      const auto came = (*opened)->wait(50ms);
      if (!came)
        return;
      for (const auto& n : *came)
        if (const auto* h = std::get_if<record_event>(&n);
            h != nullptr && std::holds_alternative<candidate_evaluated>(h->record))
          late_ms.push_back(now_ms() - static_cast<double>(h->unix_ms));
    }
  }

  std::atomic<bool> over_ = false;
  std::thread thread_; // The last: it uses the others.
};

struct round_result {
  double candidates_per_second = 0;
  double first_ms = 0, late_ms = 0, latest_ms = 0;
};

/// The rate is taken between the tenth and the ninetieth of a hundred, when all watch.
expected<round_result> run_once(const attach_options& options, bool watched) {
  auto fresh = make_synthetic_run(
      {.runs = options.runs,
       .name = "watched",
       .space = options.space,
       .rest =
           fmt::format("[synthetic]\nduration = \"{}\"\nepochs = 4\n", options.duration),
       .overrides = {"evolution.strategy=generational", "evolution.population=20",
                     fmt::format("evolution.generations={}",
                                 std::max<std::size_t>(5, options.candidates / 20)),
                     fmt::format("slots.local=\"{}\"", options.slots)}});
  if (!fresh)
    return tl::unexpected(fresh.error());
  const auto folder = fresh->folder;
  const auto total =
      fresh->experiment.evolution.population * fresh->experiment.evolution.generations;
  std::optional<std::pair<clock::time_point, std::uint64_t>> from, to;
  std::unique_ptr<stopwatch> watch;
  audience viewers(options, folder);
  expected<void> started;
  const auto observe = [&](const run_progress& p) {
    if (watched && p.evaluated > 0 && !watch) {
      started = viewers.start();
      watch = std::make_unique<stopwatch>(folder / store_file_name);
    }
    if (10 * p.evaluated < 3 * total)
      return;
    viewers.stop_some();
    if (!from)
      from.emplace(clock::now(), p.evaluated);
    if (10 * p.evaluated <= 9 * total)
      to.emplace(clock::now(), p.evaluated);
  };
  const auto result = run_to_end(std::move(*fresh), observe);
  round_result round;
  if (watch) {
    watch->end();
    round.first_ms = watch->first_ms;
    round.late_ms = median(watch->late_ms);
    if (!watch->late_ms.empty())
      round.latest_ms = std::ranges::max(watch->late_ms);
  }
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  if (!started)
    return tl::unexpected(started.error());
  if (!result)
    return tl::unexpected(result.error());
  if (!from || !to || to->first <= from->first)
    return fail(error_kind::internal, "a run of the bench did not end as it should");
  round.candidates_per_second =
      static_cast<double>(to->second - from->second)
      / std::chrono::duration<double>(to->first - from->first).count();
  return round;
}

int bench_attach(const attach_options& options) {
  std::vector<double> alone, watched, first, late, latest;
  std::optional<error> failure;
  for (std::size_t i = 0; i < options.rounds && !failure; ++i)
    for (const bool with : {false, true}) {
      const auto round = run_once(options, with);
      if (!round) {
        failure = round.error();
        break;
      }
      (with ? watched : alone).push_back(round->candidates_per_second);
      if (with) {
        first.push_back(round->first_ms);
        late.push_back(round->late_ms);
        latest.push_back(round->latest_ms);
      }
    }
  if (failure)
    return report(*failure);
  std::printf("%zu viewers, %zu of them stopped; candidates of %s; median of %zu rounds "
              "each\n",
              options.viewers, options.stopped, options.duration.c_str(), options.rounds);
  std::printf("  %.1f candidates/s with them, %.1f without: they cost %.2f %%\n",
              median(watched), median(alone),
              100 * (1 - median(watched) / median(alone)));
  std::printf("  first picture after %.0f ms; an evaluation is there %.1f ms after its "
              "record, %.0f ms at most\n",
              median(first), median(late), std::ranges::max(latest));
  return 0;
}

} // namespace

void add_bench_attach(CLI::App& bench, command& chosen) {
  auto options = std::make_shared<attach_options>();
  auto* sub = bench.add_subcommand("attach", "What it costs a run to be watched, and how "
                                             "soon viewers see what happened");
  sub->add_option("--viewers", options->viewers, "How many viewers")
      ->capture_default_str();
  sub->add_option("--stopped", options->stopped, "How many of them do not read")
      ->capture_default_str();
  sub->add_option("--candidates", options->candidates, "Candidates of a run")
      ->capture_default_str();
  sub->add_option("--duration", options->duration, "Duration of each candidate")
      ->capture_default_str();
  sub->add_option("--rounds", options->rounds,
                  "How many runs with viewers, and as many without")
      ->capture_default_str()
      ->check(CLI::Range(1, 100));
  sub->add_option("--slots", options->slots, "Node processes")->capture_default_str();
  sub->add_option("--space", options->space, "Search space")->capture_default_str();
  sub->add_option("--runs", options->runs, "Where the runs are kept")
      ->envname("CLADE_RUNS")
      ->capture_default_str();
  sub->callback(
      [&chosen, options] { chosen = [options] { return bench_attach(*options); }; });
}

} // namespace clade
