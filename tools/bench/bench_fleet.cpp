#include "tools/bench/bench_fleet.hpp"

#include "actors/node/fleet.hpp"
#include "engine/simulation/gang_simulation.hpp"
#include "tools/bench/bench_experiment.hpp"
#include "tools/cli/base/command.hpp"
#include "tools/machine/slots.hpp"
#include "tools/run/new_run.hpp"
#include "tools/run/run_files.hpp"
#include "tools/run/session.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cstdio>
#include <memory>
#include <optional>

// A steady state with more candidates open than there are nodes, so that none waits for
// another. The share of slot time is taken between the end of the first round, when all
// have joined and worked, and the beginning of the last, after which there is not work
// for all.

namespace clade {

namespace {

namespace fs = std::filesystem;
using clock = std::chrono::steady_clock;

constexpr const char* steady_state = R"([evolution]
strategy = "regularized"
tell_order = "arrived"
[synthetic]
duration = "1s"
)";

struct fleet_options {
  std::size_t workers = 1'000;
  std::size_t processes = 4;
  std::size_t rounds = 30;
  fs::path space = "search_spaces/mlp.toml";
  fs::path runs = "runs";
  bool gangs = false;
};

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// The state of the run at one moment.
struct moment {
  clock::time_point time;
  double training_seconds = 0, cpu = 0;
  std::uint64_t evaluated = 0;
};

/// The processes with the simulated nodes.
class fleet {
public:
  fleet(const fleet_options& options, fs::path folder)
      : options_(options),
        folder_(std::move(folder)) {}

  ~fleet() {
    for (const pid_t p : processes_) {
      ::kill(p, SIGKILL);
      ::waitpid(p, nullptr, 0);
    }
  }

  /// Once the run's address is there.
  void start() {
    const auto address = listening_address(folder_);
    if (!processes_.empty() || address.empty())
      return;
    for (std::size_t i = 0; i < options_.processes; ++i) {
      const auto share = options_.workers * (i + 1) / options_.processes
                         - options_.workers * i / options_.processes;
      auto started = start_process(
          {.command = {own_program().string(), "fleet", "--connect", address, "--keys",
                       (folder_ / "keys" / "worker").string(), "--name",
                       fmt::format("box{}", i), "--nodes", std::to_string(share)},
           .log = folder_ / "worker.log"});
      if (started)
        processes_.push_back(*started);
    }
  }

private:
  fleet_options options_;
  fs::path folder_;
  std::vector<pid_t> processes_;
};

void print(const fleet_options& o, const moment& from, const moment& to) {
  const double wall = std::chrono::duration<double>(to.time - from.time).count();
  std::printf("%zu simulated workers in %zu processes, candidates of 1 s\n", o.workers,
              o.processes);
  std::printf("  %.1f %% of slot time busy over %.1f s    %.0f evaluations/s\n",
              100 * (to.training_seconds - from.training_seconds)
                  / (wall * static_cast<double>(o.workers)),
              wall, static_cast<double>(to.evaluated - from.evaluated) / wall);
  std::printf("  head: %.2f cores, %.0f MB\n", (to.cpu - from.cpu) / wall,
              resident_megabytes());
}

int simulate_gangs(const fleet_options& options) {
  const gang_mix mix{.slots = options.workers,
                     .slots_of_machine = std::min<std::size_t>(64, options.workers)};
  const auto found = simulate_gangs(mix);
  std::printf("%zu slots on machines of %zu, %zu tasks of 1 to %u slots\n", mix.slots,
              mix.slots_of_machine, mix.tasks, mix.largest);
  std::printf("  %.1f %% of slot time busy while tasks wait\n", 100 * found.busy);
  std::printf("  a gang that is next begins after %.2f times what it would wait alone, "
              "at most %.2f times; %zu waited\n",
              found.mean_wait, found.longest_wait, found.waited);
  return 0;
}

int bench_fleet(const fleet_options& options) {
  if (options.gangs)
    return simulate_gangs(options);
  const auto open = options.workers + options.workers / 5;
  auto fresh = make_synthetic_run(
      {.runs = options.runs,
       .name = "fleet",
       .space = options.space,
       .rest = steady_state,
       .overrides = {fmt::format("evolution.population={}", open),
                     fmt::format("evolution.in_flight={}", open),
                     fmt::format("evolution.generations={}", options.rounds),
                     "slots.local=\"none\"", "slots.listen=\"127.0.0.1:0\""}});
  if (!fresh)
    return report(fresh.error());
  const auto folder = fresh->folder;
  std::optional<moment> from, to;
  expected<session_result> result;
  {
    fleet simulated(options, folder);
    const auto observe = [&](const run_progress& p) {
      simulated.start();
      const moment now{clock::now(), p.training_seconds, cpu_seconds(), p.evaluated};
      if (!from && p.evaluated >= 2 * options.workers)
        from = now;
      if (p.evaluated + 2 * options.workers <= open * options.rounds)
        to = now;
    };
    result = run_to_end(std::move(*fresh), observe);
  }
  if (from && to && to->evaluated > from->evaluated)
    print(options, *from, *to);
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  return result ? 0 : report(result.error());
}

struct process_options {
  std::string connect, name;
  fs::path keys;
  std::size_t nodes = 1;
};

int simulate(const process_options& options) {
  const auto head = parse_endpoint(options.connect);
  const auto keys = find_keys(options.keys);
  if (!head || !keys)
    return report(head ? keys.error() : head.error());
  const auto done = run_fleet({.head = *head,
                               .keys = *keys,
                               .build = CLADE_VERSION,
                               .name = options.name,
                               .nodes = options.nodes});
  return done ? 0 : report(done.error());
}

} // namespace

void add_bench_fleet(CLI::App& bench, command& chosen) {
  auto options = std::make_shared<fleet_options>();
  auto* sub = bench.add_subcommand(
      "fleet", "How busy one head keeps many simulated workers, and what it costs");
  sub->add_option("--workers", options->workers, "How many workers")
      ->capture_default_str()
      ->check(CLI::Range(1, 100'000));
  sub->add_option("--processes", options->processes, "How many processes simulate them")
      ->capture_default_str()
      ->check(CLI::Range(1, 64));
  sub->add_option("--rounds", options->rounds,
                  "About how many candidates for each worker")
      ->capture_default_str()
      ->check(CLI::Range(6, 100'000));
  sub->add_flag("--gangs", options->gangs,
                "Simulates only who gets which slots, where tasks need several");
  sub->add_option("--space", options->space, "Search space")->capture_default_str();
  sub->add_option("--runs", options->runs, "Where the store is kept")
      ->envname("CLADE_RUNS")
      ->capture_default_str();
  sub->callback(
      [&chosen, options] { chosen = [options] { return bench_fleet(*options); }; });
}

void add_fleet(CLI::App& app, command& chosen) {
  auto options = std::make_shared<process_options>();
  auto* sub = app.add_subcommand("fleet", "Simulated nodes; clade bench fleet starts it");
  sub->group("");
  sub->add_option("--connect", options->connect, "HOST:PORT of the run")->required();
  sub->add_option("--keys", options->keys, "Bundle of keys")->required();
  sub->add_option("--name", options->name, "Before the slots' names")->required();
  sub->add_option("--nodes", options->nodes, "How many")->required();
  sub->callback(
      [&chosen, options] { chosen = [options] { return simulate(*options); }; });
}

} // namespace clade
