#include "tools/bench/bench_anytime.hpp"
#include "tools/bench/bench_ask.hpp"
#include "tools/bench/bench_attach.hpp"
#include "tools/bench/bench_experiment.hpp"
#include "tools/bench/bench_fleet.hpp"
#include "tools/bench/bench_search.hpp"
#include "tools/bench/bench_step.hpp"
#include "tools/bench/bench_strategies.hpp"
#include "tools/cli/base/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>

namespace clade {

namespace {

namespace fs = std::filesystem;

// `bench engine`: no-op candidates through the whole path.

struct engine_options {
  std::uint64_t candidates = 100'000;
  std::uint64_t population = 1'000;
  std::string slots = "2";
  // Dense layers alone: genomes of the usual size, decoded in the usual time.
  fs::path space = "search_spaces/mlp.toml";
  fs::path runs = "runs";
  bool command = false;
};

// A program that does nothing but answer.
constexpr const char* answering_program = R"(
[objective]
maximize = ["score"]
[command]
run = ["echo", "{\"score\": 1}"]
)";

int bench_engine(const engine_options& options) {
  const auto generations =
      std::max<std::uint64_t>(1, options.candidates / options.population);
  auto fresh = make_synthetic_run(
      {.runs = options.runs,
       .name = "noop",
       .space = options.space,
       .fitness = options.command ? "command" : "synthetic",
       .rest = options.command ? answering_program : "",
       .overrides = {"evolution.strategy=generational",
                     fmt::format("evolution.population={}", options.population),
                     fmt::format("evolution.generations={}", generations),
                     fmt::format("slots.local=\"{}\"", options.slots)}});
  if (!fresh)
    return report(fresh.error());
  const auto folder = fresh->folder;
  double early_megabytes = 0;
  std::optional<std::chrono::steady_clock::time_point> first, last;
  const auto observe = [&](const run_progress& p) {
    const auto now = std::chrono::steady_clock::now();
    if (p.evaluated > 0 && !first)
      first = now;
    if (p.evaluated >= 10'000 && early_megabytes == 0)
      early_megabytes = resident_megabytes();
    last = now;
  };
  const auto result = run_to_end(std::move(*fresh), observe);
  std::error_code ignored;
  if (result) {
    const auto bytes = fs::file_size(folder / "run.db", ignored);
    std::printf("%lu %s through %zu node processes, each in SQLite before "
                "it is acted on\n",
                result->evaluated,
                options.command ? "candidates, a process for each," : "no-op candidates",
                result->slots);
    std::printf(
        "  %.1f s with start and end    %.0f candidates/s from the first evaluation on\n",
        result->seconds,
        static_cast<double>(result->evaluated)
            / std::chrono::duration<double>(*last - *first).count());
    std::printf("  head memory %.1f MB after 10,000, %.1f MB at the end    store %.0f "
                "bytes a candidate\n",
                early_megabytes, resident_megabytes(),
                static_cast<double>(bytes) / static_cast<double>(result->evaluated));
  }
  fs::remove_all(folder, ignored);
  return result ? 0 : report(result.error());
}

// `bench training`: a real experiment over several seeds.

struct training_options {
  fs::path file = "experiments/digits.toml";
  std::uint64_t seeds = 5;
  std::string slots = "2";
  std::vector<std::string> overrides;
  fs::path runs = "runs";
};

struct training_row {
  std::uint64_t seed = 0;
  session_result session;
  double champion = 0, random = 0, linear = 0;
};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const auto n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/// The first test metric of each examination.
expected<void> read_examinations(const fs::path& folder, training_row& row) {
  auto file = store::open_to_read(folder / "run.db");
  if (!file)
    return tl::unexpected(file.error());
  return file->for_each(
      [&](std::uint64_t, std::int64_t, const record& r) -> expected<void> {
        const auto* finished = std::get_if<run_finished>(&r);
        if (finished == nullptr)
          return {};
        for (const auto& e : finished->examinations) {
          const auto value = e.metrics.empty() ? 0.0 : e.metrics.front().value;
          if (e.subject == "champion")
            row.champion = value;
          else if (e.subject == "linear model")
            row.linear = value;
          else
            row.random = value;
        }
        return {};
      });
}

expected<training_row> train_once(const training_options& options, std::uint64_t seed) {
  auto overrides = options.overrides;
  overrides.push_back(fmt::format("experiment.seed={}", seed));
  overrides.push_back(fmt::format("slots.local=\"{}\"", options.slots));
  auto fresh =
      make_run({.file = options.file, .overrides = overrides, .runs = options.runs});
  if (!fresh)
    return tl::unexpected(fresh.error());
  const auto folder = fresh->folder;
  const auto ended = run_to_end(std::move(*fresh));
  if (!ended)
    return tl::unexpected(ended.error());
  training_row row{.seed = seed, .session = *ended};
  if (auto read = read_examinations(folder, row); !read)
    return tl::unexpected(read.error());
  return row;
}

double inside(const session_result& s) {
  return 100 * s.training_seconds / (s.seconds * static_cast<double>(s.slots));
}

int bench_training(const training_options& options) {
  std::printf("%s on %s slots\n  seed   wall s   inside training %%   champion   best "
              "random   linear\n",
              options.file.c_str(), options.slots.c_str());
  std::vector<double> wall, share, champion, random, linear;
  const auto print = [](const char* name, double w, double s, double c, double r,
                        double l) {
    std::printf("%6s   %6.1f   %17.1f   %8.4f   %11.4f   %6.4f\n", name, w, s, c, r, l);
    std::fflush(stdout);
  };
  for (std::uint64_t seed = 1; seed <= options.seeds; ++seed) {
    auto row = train_once(options, seed);
    if (!row)
      return report(row.error());
    wall.push_back(row->session.seconds);
    share.push_back(inside(row->session));
    champion.push_back(row->champion);
    random.push_back(row->random == 0 ? row->champion : row->random);
    linear.push_back(row->linear);
    print(std::to_string(seed).c_str(), wall.back(), share.back(), champion.back(),
          random.back(), linear.back());
  }
  print("median", median(wall), median(share), median(champion), median(random),
        median(linear));
  return 0;
}

} // namespace

void add_bench(CLI::App& app, command& chosen) {
  auto* sub =
      app.add_subcommand("bench", "Measure the figures of experiments/RESULTS.md");
  sub->require_subcommand(1);
  auto engine = std::make_shared<engine_options>();
  auto* e = sub->add_subcommand("engine",
                                "Candidates a second that cost nothing but are safely "
                                "stored, and the head's memory");
  e->add_option("--candidates", engine->candidates, "How many candidates")
      ->capture_default_str();
  e->add_option("--population", engine->population, "Candidates in a generation")
      ->capture_default_str()
      ->check(CLI::Range(2, 1'000'000));
  e->add_option("--slots", engine->slots, "Node processes")->capture_default_str();
  e->add_option("--space", engine->space, "Search space")->capture_default_str();
  e->add_flag("--command", engine->command,
              "Have a process of its own answer for each, as fitness = \"command\" has");
  e->add_option("--runs", engine->runs,
                "Where the store is, and so which disk is measured")
      ->envname("CLADE_RUNS")
      ->capture_default_str();
  e->callback([&chosen, engine] { chosen = [engine] { return bench_engine(*engine); }; });
  add_bench_anytime(*sub, chosen);
  add_bench_ask(*sub, chosen);
  add_bench_attach(*sub, chosen);
  add_bench_fleet(*sub, chosen);
  add_bench_search(*sub, chosen);
  add_bench_step(*sub, chosen);
  add_bench_strategies(*sub, chosen);
  auto training = std::make_shared<training_options>();
  auto* s = sub->add_subcommand(
      "training", "A real experiment over several seeds: wall time, share of "
                  "it inside training, accuracy on test data");
  s->add_option("file", training->file, "Experiment")->capture_default_str();
  s->add_option("--seeds", training->seeds, "How many seeds, from 1 on")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  s->add_option("--slots", training->slots, "As for clade run")->capture_default_str();
  s->add_option("--set", training->overrides, "As for clade run")->take_all();
  s->add_option("--runs", training->runs, "Where the runs are kept")
      ->envname("CLADE_RUNS")
      ->capture_default_str();
  s->callback(
      [&chosen, training] { chosen = [training] { return bench_training(*training); }; });
}

} // namespace clade
