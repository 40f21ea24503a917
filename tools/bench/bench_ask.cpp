// The time that the engine itself spends on a candidate, at the end of long searches on a
// fitness that is free: every strategy on every kind of space that it can serve.
#include "tools/bench/bench_ask.hpp"

#include "engine/config/experiment/experiment.hpp"
#include "engine/report/base/format.hpp"
#include "engine/search/strategies/registry/registry.hpp"
#include "engine/simulation/ask_cost.hpp"
#include "search_spaces/files/load_search_space.hpp"
#include "tools/bench/bench_rows.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <iostream>

namespace clade {

namespace {

namespace fs = std::filesystem;

struct ask_options {
  std::vector<std::string> strategies;
  std::size_t evaluations = 100'000, measured = 1'000, in_flight = 8;
  fs::path space = "search_spaces/mlp.toml";
  bool json = false;
};

/// Hyperparameters alone, all of them ordered, which every strategy but those of layers
/// can search; so many values that a long search does not exhaust them.
constexpr const char* numbers = R"(
[limits]
max_nodes = 0
[hyperparameters]
learning_rate = { low = 0.0001, high = 0.1, log = true }
momentum = { low = 0.5, high = 0.99 }
weight_decay = { low = 0.00001, high = 0.01, log = true }
label_smoothing = { low = 0.0, high = 0.3 }
dropout = { low = 0.0, high = 0.7 }
batch_size = [16, 32, 64, 128, 256]
units = { low = 8, high = 512 }
warm_up = { low = 0, high = 20 }
)";

/// Before it is known on which spaces.
std::vector<named_strategy> known_strategies() {
  std::vector<named_strategy> rows;
  for (const auto& name : strategy_names()) {
    if (row_of(name)->fits != nullptr)
      continue; // A grid of these spaces is larger than a search.
    if (row_of(name)->traits.branches)
      continue; // These spaces have none.
    rows.push_back({name, {"strategy=" + name}});
    if (starts_from_others({.strategy = name}))
      rows.back().settings.emplace_back("rungs=[1,3,9]");
  }
  rows.push_back({"islands of three",
                  {"strategy=islands", "islands=[\"regularized\",\"tpe\",\"local_"
                                       "search\"]"}});
  return rows;
}

/// Several where the strategy is for several.
objective objective_for(objective_count objectives) {
  objective goal;
  if (objectives == objective_count::few || objectives == objective_count::many)
    goal.others = {{std::string(parameters_metric), false}};
  if (objectives == objective_count::many) {
    goal.others.push_back({std::string(multiply_adds_metric), false});
    goal.others.push_back({"validation.loss", false});
  }
  return goal;
}

/// A strategy on a space, measured.
struct measured_row {
  std::string strategy, space;
  ask_cost cost;
};

expected<measured_row> measure(const std::string& name, const evolution_params& evolution,
                               const ask_options& options,
                               const std::shared_ptr<const search_space>& space) {
  constexpr std::size_t warm = 500; // Made by a model, before those measured.
  ask_cost_params params{.evolution = evolution,
                         .objective =
                             objective_for(row_of(evolution.strategy)->traits.objectives),
                         .space = space,
                         .problem = {.input = {{16}}, .outputs = 4},
                         .evaluations = options.evaluations,
                         .measured = options.measured};
  if (space->input == layout::image)
    params.problem.input = {{1, 8, 8}};
  // A search whose models are all asked would take hours.
  if (has_trait(evolution, &strategy_traits::model))
    params.modelled = options.measured + warm;
  auto cost = measure_ask_cost(params);
  if (!cost)
    return fail_in("--strategies " + name, std::move(cost).error());
  return measured_row{name, has_layers(space->rules) ? "layers" : "numbers", *cost};
}

expected<std::vector<named_strategy>> strategies_of(const ask_options& options) {
  if (options.strategies.empty())
    return known_strategies();
  std::vector<named_strategy> rows;
  for (const auto& text : options.strategies) {
    auto s = choose_row(text, known_strategies(), {"strategy=regularized"});
    if (!s)
      return tl::unexpected(std::move(s).error());
    rows.push_back(std::move(*s));
  }
  return rows;
}

expected<std::vector<std::shared_ptr<const search_space>>>
spaces_of(const ask_options& options) {
  auto layers = load_search_space(options.space);
  if (!layers)
    return tl::unexpected(std::move(layers).error());
  auto alone = parse_search_space(numbers, "numbers");
  if (!alone)
    return tl::unexpected(std::move(alone).error());
  return std::vector{std::make_shared<const search_space>(std::move(*layers)),
                     std::make_shared<const search_space>(std::move(*alone))};
}

/// On each space that the strategy can search; there must be one.
expected<void>
measure_on_all(const named_strategy& s, const ask_options& options,
               const std::vector<std::shared_ptr<const search_space>>& spaces,
               std::vector<measured_row>& rows) {
  auto settings = s.settings;
  settings.insert(settings.begin(), fmt::format("in_flight={}", options.in_flight));
  const auto before = rows.size();
  std::optional<error> unserved;
  for (const auto& space : spaces) {
    const auto evolution = parse_evolution(settings, *space);
    if (!evolution) {
      unserved = evolution.error();
      continue;
    }
    auto row = measure(s.name, *evolution, options, space);
    if (!row)
      return tl::unexpected(std::move(row).error());
    rows.push_back(std::move(*row));
    if (!options.json)
      std::cerr << s.name << " on " << rows.back().space << ": "
                << duration_text(rows.back().cost.seconds) << "\n";
  }
  if (rows.size() == before && unserved)
    return fail_in("--strategies " + s.name, std::move(*unserved));
  return {};
}

std::string milliseconds(double seconds) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.3f", 1e3 * seconds);
  return text.data();
}

std::string to_text(const std::vector<measured_row>& rows, const ask_options& options) {
  using align = table::align;
  table lines({align::left, align::left, align::right, align::right, align::right,
               align::right, align::right, align::right, align::right});
  lines.add({"ms of a candidate", "space", "head mean", "99 %", "most", "breeding mean",
             "99 %", "most", "search s"});
  for (const auto& r : rows) {
    std::vector<std::string> cells{r.strategy, r.space};
    for (const auto& spread : {r.cost.head, r.cost.breeding})
      for (const double v : {spread.mean, spread.p99, spread.most})
        cells.push_back(milliseconds(v));
    cells.push_back(std::to_string(std::lround(r.cost.seconds)));
    lines.add(std::move(cells));
  }
  return fmt::format("the last {} of {} candidates, {} in flight\n{}",
                     std::min(options.measured, options.evaluations), options.evaluations,
                     options.in_flight, lines.to_text(2));
}

nlohmann::ordered_json json_of(const cost_spread& s) {
  return {{"mean_ms", 1e3 * s.mean}, {"p99_ms", 1e3 * s.p99}, {"max_ms", 1e3 * s.most}};
}

std::string to_json(const std::vector<measured_row>& rows, const ask_options& options) {
  nlohmann::ordered_json out{{"evaluations", options.evaluations},
                             {"measured", options.measured},
                             {"in_flight", options.in_flight},
                             {"rows", nlohmann::ordered_json::array()}};
  for (const auto& r : rows)
    out["rows"].push_back({{"strategy", r.strategy},
                           {"space", r.space},
                           {"candidates", r.cost.candidates},
                           {"head", json_of(r.cost.head)},
                           {"breeding", json_of(r.cost.breeding)},
                           {"seconds", r.cost.seconds}});
  return out.dump() + "\n";
}

int bench_ask(const ask_options& options) {
  const auto strategies = strategies_of(options);
  if (!strategies)
    return report(strategies.error());
  const auto spaces = spaces_of(options);
  if (!spaces)
    return report(spaces.error());
  std::vector<measured_row> rows;
  for (const auto& s : *strategies)
    if (auto done = measure_on_all(s, options, *spaces, rows); !done)
      return report(done.error());
  std::cout << (options.json ? to_json(rows, options) : to_text(rows, options));
  return 0;
}

} // namespace

void add_bench_ask(CLI::App& bench, command& chosen) {
  auto options = std::make_shared<ask_options>();
  auto* sub = bench.add_subcommand(
      "ask", "What the engine itself spends on a candidate, at the end of long searches");
  sub->add_option(
         "--strategies", options->strategies,
         "By name, or \"NAME: key=value ...\" with keys of [evolution]; otherwise all")
      ->take_all();
  sub->add_option("--evaluations", options->evaluations, "Evaluations of each search")
      ->capture_default_str()
      ->check(CLI::Range(1, 10'000'000));
  sub->add_option("--measured", options->measured, "How many are measured, at the end")
      ->capture_default_str()
      ->check(CLI::Range(1, 10'000'000));
  sub->add_option("--in-flight", options->in_flight, "Candidates open at a time")
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000'000));
  sub->add_option("--space", options->space, "Search space with layers")
      ->capture_default_str();
  sub->add_flag("--json", options->json, "One JSON object, for programs");
  sub->footer(
      "Processor time of one thread. \"head\" is what blocks the search: asking, "
      "and the fold of\n"
      "records, with the closing of a generation. \"breeding\" is what generators "
      "do beside it:\n"
      "mutation, crossover, the fits of models. Before the last candidates, models "
      "are not\n"
      "asked, but told of every one.");
  sub->callback(
      [&chosen, options] { chosen = [options] { return bench_ask(*options); }; });
}

} // namespace clade
