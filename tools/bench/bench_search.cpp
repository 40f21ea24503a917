// Searches on tables, where every answer is known. A job is one search: a table, a row
// (a strategy with its settings) and a seed; all cores take jobs, and what is printed
// does not depend on which took which.
#include "tools/bench/bench_search.hpp"

#include "engine/config/experiment/table_file.hpp"
#include "engine/simulation/search_statistics.hpp"
#include "engine/simulation/table_search.hpp"
#include "tools/bench/bench_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <iostream>
#include <iterator>
#include <mutex>
#include <thread>

namespace clade {

namespace {

namespace fs = std::filesystem;

struct search_options {
  std::vector<std::string> tables, strategies, against;
  std::vector<std::string> maximize, minimize; ///< Beside each table's own objective.
  std::size_t seeds = 100, evaluations = 200, threads = 0;
  std::uint64_t first_seed = 1;
  bool json = false, quick = false;

  [[nodiscard]] std::vector<aim> others() const {
    std::vector<aim> aims;
    for (const auto& metric : maximize)
      aims.push_back({metric, true});
    for (const auto& metric : minimize)
      aims.push_back({metric, false});
    return aims;
  }
};

/// A folder stands for the descriptions in it.
expected<std::vector<fs::path>> find_descriptions(const std::vector<std::string>& names) {
  std::vector<fs::path> found;
  for (const auto& name : names) {
    std::error_code failure;
    if (fs::is_directory(name, failure)) {
      for (const auto& entry : fs::directory_iterator(name, failure))
        if (entry.path().extension() == ".toml")
          found.push_back(entry.path());
    } else if (fs::exists(name, failure)) {
      found.emplace_back(name);
    } else {
      return fail(error_kind::not_found,
                  fmt::format("--tables: {} is not there; name descriptions, or a folder "
                              "of them, such as experiments/tables",
                              name));
    }
  }
  std::ranges::sort(found);
  if (found.empty())
    return fail(error_kind::not_found, "--tables: there is no description in them");
  return found;
}

/// Without those that do not have these metrics; fails where that leaves none.
expected<std::vector<fs::path>> having(std::vector<fs::path> descriptions,
                                       const std::vector<aim>& others) {
  std::optional<error> wrong;
  std::vector<fs::path> kept;
  for (auto& file : descriptions) {
    const auto goal = load_table_description(file).and_then(
        [&](const table_description& d) { return objective_of(d, others); });
    if (goal)
      kept.push_back(std::move(file));
    else if (!wrong)
      wrong = goal.error();
  }
  if (kept.empty() && wrong)
    return tl::unexpected(std::move(*wrong));
  return kept;
}

struct open_table {
  std::string name;
  std::shared_ptr<const benchmark_table> table;
  table_standard standard;
  struct row {
    std::string name;
    table_search_params params;
  };
  std::vector<row> rows;
};

expected<open_table> open(const fs::path& file,
                          const std::vector<named_strategy>& strategies,
                          const std::vector<aim>& others) {
  open_table t{.name = file.stem().string()};
  auto table = load_table_description(file).and_then(
      [](table_description&& d) { return load_table(std::move(d)); });
  if (!table)
    return tl::unexpected(std::move(table).error());
  t.table = std::move(*table);
  auto standard = standard_of(*t.table, others);
  if (!standard)
    return tl::unexpected(std::move(standard).error());
  t.standard = std::move(*standard);
  for (const auto& s : strategies) {
    const auto& d = t.table->description();
    if (s.climbs && d.fidelities.size() == 1)
      continue;
    auto evolution = parse_evolution(settings_of(s, d.fidelities), d.space,
                                     t.standard.goal, d.fidelities);
    if (!evolution)
      return fail_in("--strategies " + s.name, std::move(evolution).error());
    t.rows.push_back({s.name, {.evolution = std::move(*evolution)}});
  }
  return t;
}

/// Calls `work(i)` for all i below `count`, on so many threads; the error of the first
/// that failed.
template<class Work>
expected<void> on_threads(std::size_t threads, std::size_t count, Work work) {
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::size_t first_failed = count;
  std::optional<error> wrong;
  const auto take = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      const expected<void> done = work(i);
      if (done)
        continue;
      next = count;
      std::lock_guard lock(mutex);
      if (i < first_failed) {
        first_failed = i;
        wrong = done.error();
      }
    }
  };
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < threads; ++i)
    others.emplace_back(take);
  take();
  for (auto& t : others)
    t.join();
  if (wrong)
    return tl::unexpected(std::move(*wrong));
  return {};
}

expected<search_table_rows> search(const open_table& t, const search_options& options,
                                   const std::vector<std::size_t>& checkpoints) {
  std::vector<search_outcome> outcomes(t.rows.size() * options.seeds);
  const auto threads = options.threads != 0
                           ? options.threads
                           : std::max(1U, std::thread::hardware_concurrency());
  const auto done =
      on_threads(threads, outcomes.size(), [&](std::size_t i) -> expected<void> {
        auto params = t.rows[i / options.seeds].params;
        params.seed = options.first_seed + i % options.seeds;
        params.evaluations = options.evaluations;
        auto result = search_table(t.table, t.standard, params);
        if (!result)
          return fail_in(fmt::format("{}, {}", t.name, t.rows[i / options.seeds].name),
                         std::move(result).error());
        outcomes[i] = {.regret = std::move(result->regret),
                       .first_top = result->first_top,
                       .first_best = result->first_best,
                       .ask_mean_seconds = result->ask_mean_seconds,
                       .ask_max_seconds = result->ask_max_seconds};
        return {};
      });
  if (!done)
    return tl::unexpected(done.error());
  search_table_rows rows{.name = t.name, .rows = {}};
  for (std::size_t s = 0; s < t.rows.size(); ++s)
    rows.rows.push_back(row_of(
        t.rows[s].name, std::span(outcomes).subspan(s * options.seeds, options.seeds),
        checkpoints));
  return rows;
}

std::vector<std::size_t> checkpoints_of(std::size_t evaluations) {
  std::vector<std::size_t> points;
  for (const std::size_t at : {25, 50, 100, 200})
    if (at < evaluations)
      points.push_back(at);
  points.push_back(evaluations);
  return points;
}

/// Takes the tables for which a minute suffices, of different kinds.
void make_quick(search_options& o) {
  if (o.tables.empty())
    for (const char* name :
         {"nb201_cifar10", "nb201_imagenet", "hpolib_protein_structure"})
      o.tables.push_back(fmt::format("experiments/tables/{}.toml", name));
  if (o.strategies.empty()) {
    o.strategies = {"random", yardstick_row, automatic_row};
  }
  o.evaluations = std::min<std::size_t>(o.evaluations, 100);
  o.seeds = std::min<std::size_t>(o.seeds, 40);
}

/// Reads the results of other programs, if any are named.
expected<std::optional<search_comparison>>
read_others(const std::vector<std::string>& files) {
  std::optional<search_comparison> all;
  for (const auto& file : files) {
    std::ifstream in(file);
    if (!in)
      return fail(error_kind::not_found, "--against: cannot read " + file);
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    auto one = parse_comparison(text, "--against: " + file);
    if (one && all)
      one = joined(std::move(*all), std::move(*one), "--against: " + file);
    if (!one)
      return tl::unexpected(std::move(one).error());
    all = std::move(*one);
  }
  return all;
}

expected<search_comparison> compare(const search_options& options) {
  const auto against = read_others(options.against);
  if (!against)
    return tl::unexpected(against.error());
  std::vector<named_strategy> strategies;
  for (const auto& text : options.strategies) {
    auto s = parse_strategy(text);
    if (!s)
      return tl::unexpected(std::move(s).error());
    strategies.push_back(std::move(*s));
  }
  const auto others = options.others();
  auto files = find_descriptions(options.tables.empty()
                                     ? std::vector<std::string>{"experiments/tables"}
                                     : options.tables);
  if (files && !others.empty() && options.tables.empty())
    files = having(std::move(*files), others);
  if (!files)
    return tl::unexpected(files.error());
  if (strategies.empty()) {
    auto all = strategies_for(*files, others);
    if (!all)
      return tl::unexpected(all.error());
    strategies = std::move(*all);
  }
  search_comparison c{.seeds = options.seeds,
                      .evaluations = options.evaluations,
                      .checkpoints = checkpoints_of(options.evaluations),
                      .of_fronts = !others.empty(),
                      .yardstick = automatic_row,
                      .tables = {}};
  for (const auto& file : *files) {
    const auto t = open(file, strategies, others);
    if (!t)
      return tl::unexpected(t.error());
    auto rows = search(*t, options, c.checkpoints);
    if (!rows)
      return tl::unexpected(std::move(rows).error());
    c.tables.push_back(std::move(*rows));
  }
  if (*against)
    if (auto added = add_rows(c, **against, "--against"); !added)
      return tl::unexpected(std::move(added).error());
  return c;
}

int bench_search(search_options options) {
  if (options.quick)
    make_quick(options);
  const auto c = compare(options);
  if (!c)
    return report(c.error());
  std::cout << (options.json ? to_json(*c) + "\n" : to_text(*c)) << std::flush;
  const auto behind = regret_ratio(*c, automatic_row, yardstick_row);
  if (!options.quick || !behind || *behind <= 1)
    return 0;
  std::cerr << "clade: " << automatic_row << " is behind " << yardstick_row << ": "
            << *behind << " times its regret after " << c->evaluations
            << " evaluations\n";
  return 1;
}

} // namespace

void add_bench_search(CLI::App& bench, command& chosen) {
  auto options = std::make_shared<search_options>();
  auto* sub = bench.add_subcommand(
      "search", "Strategies on tables with known answers, over many seeds");
  sub->add_option("--tables", options->tables,
                  "Descriptions, or folders of them; otherwise experiments/tables")
      ->take_all();
  sub->add_option("--strategies", options->strategies,
                  "Rows by name, or \"NAME: key=value ...\" with keys of [evolution]; "
                  "else all")
      ->take_all();
  sub->add_option("--maximize", options->maximize,
                  "Metrics beside each table's objective: fronts are searched for")
      ->take_all();
  sub->add_option("--minimize", options->minimize,
                  "The same, to be lowered, such as parameters or seconds")
      ->take_all();
  sub->add_option("--seeds", options->seeds, "How many searches make a row")
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000'000));
  sub->add_option("--first-seed", options->first_seed, "The first of them")
      ->capture_default_str();
  sub->add_option("--evaluations", options->evaluations,
                  "Full trainings in each search, or the epochs of as many")
      ->capture_default_str()
      ->check(CLI::Range(1, 10'000'000));
  sub->add_option("--against", options->against,
                  "Further rows: files of another --json, or of "
                  "experiments/peers/optuna_tables.py")
      ->take_all();
  sub->add_option("--threads", options->threads,
                  "How many threads; 0 for one on each core")
      ->capture_default_str();
  sub->add_flag("--json", options->json, "One JSON object, for programs");
  sub->add_flag("--quick", options->quick,
                "A few tables; fails where auto is behind regularized evolution");
  sub->footer(
      "Regret is how much the true value (the test metric, or the mean over seeds)\n"
      "of the best evaluation so far falls short of the table's best; one\n"
      "evaluation is one seed at the greatest fidelity, and repeats are free; one\n"
      "of fewer epochs counts as its share. Strategies with rungs are there for\n"
      "tables of several fidelities; their best so far is the best of those trained\n"
      "longest. \"to a top row\" is the median of evaluations until one of the 16\n"
      "truly best was evaluated, \"to the best\" until the single best was; \"mean\"\n"
      "and \"reached\" stand beside. \"ask\" is the engine's own processor time for a\n"
      "candidate, records folded. \"as auto\" is how many evaluations it takes to the\n"
      "mean regret that auto, without rungs, has. Ranks of single searches are\n"
      "among those of the same table and seed; equal ones share theirs. Of several\n"
      "objectives regret is how much the hypervolume of what was evaluated falls\n"
      "short of the table's, each metric being the share of the table's rows that\n"
      "are truly worse.");
  sub->callback(
      [&chosen, options] { chosen = [options] { return bench_search(*options); }; });
}

} // namespace clade
