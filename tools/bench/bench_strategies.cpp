// Strategies in real training, each with the same processor time for its trainings. The
// data to train on are loaded once for each seed, which decides the split of the data,
// and take one strategy after the other.
#include "tools/bench/bench_strategies.hpp"

#include "engine/report/base/json_parts.hpp"
#include "engine/simulation/training_search.hpp"
#include "tools/bench/bench_rows.hpp"
#include "tools/run/trained_here.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <iostream>
#include <memory>

namespace clade {

namespace {

struct strategies_options {
  trained_here_params here;
  std::vector<std::string> strategies = {"auto", "random"};
  std::uint64_t seeds = 5, first_seed = 1;
  double seconds = 60;
  bool json = false;
};

/// "NAME", or "NAME: key=value ..." with keys of [evolution]; candidates one at a time,
/// as there is one slot.
std::vector<std::string> settings_of(const std::string& text) {
  const auto own = own_row(text, {});
  auto settings = own ? own->settings : std::vector{"strategy=" + text};
  settings.insert(settings.begin(), "in_flight=1");
  for (auto& s : settings)
    s.insert(0, "evolution.");
  return settings;
}

/// The experiment as it is for that strategy and seed.
expected<experiment> experiment_for(const strategies_options& o, const std::string& text,
                                    std::uint64_t seed) {
  auto overrides = o.here.overrides;
  for (auto& s : settings_of(text))
    overrides.push_back(std::move(s));
  overrides.push_back(fmt::format("experiment.seed={}", seed));
  auto e = load_experiment(o.here.file, overrides);
  if (!e)
    return fail_in("--strategies " + text, std::move(e).error());
  return e;
}

ordered_json to_json(const std::string& strategy, const experiment& e,
                     const training_search_result& r) {
  return {{"strategy", strategy},
          {"chosen", e.evolution.chosen},
          {"seed", e.seed},
          {"evaluations", r.trained},
          {"failed", r.failed},
          {"training_seconds", r.seconds},
          {"engine_seconds", r.engine_seconds},
          {"champion", r.champion.id},
          {"parameters", r.champion.parameters},
          {"validation", metrics_json(r.champion.metrics)},
          {"test", metrics_json(r.tested.metrics)}};
}

void print(const std::string& strategy, const experiment& e,
           const training_search_result& r) {
  const auto validation = measured(r.champion, e.objective.metric);
  std::printf("%5lu   %-20s   %11zu   %6zu   %8.1f   %6.2f   %10.4f   %6.4f\n", e.seed,
              strategy.c_str(), r.trained, r.failed, r.seconds, r.engine_seconds,
              validation.value_or(0),
              r.tested.metrics.empty() ? 0 : r.tested.metrics.front().value);
  std::fflush(stdout);
}

expected<void> run_seed(const strategies_options& o, std::uint64_t seed) {
  auto params = o.here;
  params.overrides.push_back(fmt::format("experiment.seed={}", seed));
  const auto here = train_here(params);
  if (!here)
    return tl::unexpected(here.error());
  for (const auto& text : o.strategies) {
    const auto e = experiment_for(o, text, seed);
    if (!e)
      return tl::unexpected(e.error());
    const auto name = text.substr(0, text.find(':'));
    const auto found = search_by_training(
        {.rules = rules_of(*e), .problem = here->checked.problem, .seconds = o.seconds},
        here->by);
    if (!found)
      return fail_in(fmt::format("{}, seed {}", name, seed), found.error());
    if (o.json)
      std::cout << text_of(to_json(name, *e, *found)) << std::endl;
    else
      print(name, *e, *found);
  }
  return {};
}

int bench_strategies(const strategies_options& o) {
  if (!o.json)
    std::printf("%s, %g s of training for each search\n seed   strategy               "
                "evaluations   failed   trained s   engine s   validation   test\n",
                o.here.file.c_str(), o.seconds);
  // Faults are said before anything is trained.
  for (const auto& text : o.strategies)
    if (const auto e = experiment_for(o, text, o.first_seed); !e)
      return report(e.error());
  for (std::uint64_t i = 0; i < o.seeds; ++i)
    if (auto done = run_seed(o, o.first_seed + i); !done)
      return report(done.error());
  return 0;
}

} // namespace

void add_bench_strategies(CLI::App& bench, command& chosen) {
  auto o = std::make_shared<strategies_options>();
  auto* sub = bench.add_subcommand(
      "strategies", "Strategies in real training, each with the same seconds of it");
  sub->add_option("file", o->here.file, "Experiment")->required();
  sub->add_option("--strategies", o->strategies,
                  "Names, or \"NAME: key=value ...\" with keys of [evolution]")
      ->take_all()
      ->capture_default_str();
  sub->add_option("--seconds", o->seconds,
                  "Processor time that the trainings of a search may take")
      ->capture_default_str()
      ->check(CLI::Range(0.001, 1e9));
  sub->add_option("--seeds", o->seeds, "How many seeds")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  sub->add_option("--first-seed", o->first_seed, "The first of them")
      ->capture_default_str();
  sub->add_option("--slots", o->here.slots,
                  "Instead of slots.local; only the first slot is used");
  sub->add_option("--set", o->here.overrides, "As for clade run")->take_all();
  sub->add_flag("--json", o->json, "A JSON object for each search, for programs");
  sub->footer(
      "Each search goes on until its trainings have taken the time; the best by\n"
      "validation then meets the test data, once. A seed decides the split of the "
      "data and\nall that is random, the same for every strategy. "
      "experiments/peers/optuna_training.py runs\nOptuna's TPE by the same rules.");
  sub->callback([&chosen, o] { chosen = [o] { return bench_strategies(*o); }; });
}

} // namespace clade
