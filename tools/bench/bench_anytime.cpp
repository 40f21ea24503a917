// Runs that are given a time, in made-up worlds: what is at hand when, beside random search
// and beside one network that is trained all the time.
#include "tools/bench/bench_anytime.hpp"

#include "engine/config/experiment/experiment.hpp"
#include "engine/report/base/format.hpp"
#include "engine/simulation/search_statistics.hpp"
#include "engine/simulation/timed_run.hpp"
#include "search_spaces/files/built_in.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <iostream>

namespace clade {

namespace {

constexpr std::array<double, 4> shares{0.1, 0.25, 0.5, 1};
// How it learns is drawn in each world anew.
constexpr genome_hash any_network{.high = 1, .low = 1};

struct anytime_options {
  std::size_t worlds = 200;
  std::uint64_t seed = 1;
  bool json = false;
};

/// One way to spend the time, over all worlds of one kind of machine.
struct spent_time {
  std::string name;
  std::vector<std::vector<double>> errors; ///< At each of the shares, of each world.
  std::vector<double> mean, regret;        ///< In each world.
  std::size_t without = 0;                 ///< So many worlds end without a model.
  double latest = 0;                       ///< The latest end, as a share of the time.

  void add(const timed_run& r, const made_up_world& w, double hindsight) {
    errors.resize(shares.size());
    for (std::size_t i = 0; i < shares.size(); ++i)
      errors[i].push_back(
          error_at(r, std::max(shares[i] * w.seconds, shares[i] < 1 ? 0 : r.ended)));
    mean.push_back(mean_error(r, w.seconds));
    regret.push_back(errors.back().back() - hindsight);
    without += r.models.empty() ? 1 : 0;
    latest = std::max(latest, r.ended / w.seconds);
  }
};

/// Returns a search of random networks in the same world. It goes on to the last second, and its
/// champion is taken.
expected<timed_run_params> at_random(timed_run_params p) {
  return parse_evolution(std::vector<std::string>{"strategy=random", "population=32",
                                                  "generations=100000"},
                         *p.rules.space)
      .map([&](evolution_params&& evolution) {
        p.rules.evolution = std::move(evolution);
        p.rules.final_stage = {};
        return std::move(p);
      });
}

expected<std::vector<spent_time>> compare(machine_kind kind, const anytime_options& o) {
  const auto loaded = load_built_in_space("tabular");
  if (!loaded)
    return tl::unexpected(loaded.error());
  const auto space = std::make_shared<const search_space>(*loaded);
  std::vector<spent_time> rows{
      {.name = "clade"}, {.name = "random"}, {.name = "one network"}};
  for (std::size_t i = 0; i < o.worlds; ++i) {
    const auto w = drawn_world(o.seed + i, kind);
    const auto planned = planned_run(w, space);
    if (!planned)
      return tl::unexpected(planned.error());
    const auto ours = simulate_timed_run(*planned);
    const auto random = at_random(*planned).and_then(
        [](const timed_run_params& p) { return simulate_timed_run(p); });
    for (const auto* r : {&ours, &random})
      if (!*r)
        return tl::unexpected(r->error());
    const auto one = train_one_network(w, any_network);
    const double best = std::min(ours->hindsight, random->hindsight);
    rows[0].add(*ours, w, best);
    rows[1].add(*random, w, best);
    rows[2].add(one, w, best);
  }
  return rows;
}

std::string interval_text(const std::vector<double>& values) {
  const auto m = mean_of(values);
  return fmt::format("{:.3f} ±{:.3f}", m.mean, m.half);
}

std::string to_text(const std::string& machine, const std::vector<spent_time>& rows) {
  using align = table::align;
  table lines({align::left, align::right, align::right, align::right, align::right,
               align::right, align::right, align::right, align::right});
  std::vector<std::string> head{machine};
  for (const double s : shares)
    head.push_back(s < 1 ? fmt::format("at {:.0f} %", 100 * s) : "at the end");
  for (const auto* more : {"mean over time", "regret", "no model", "latest end"})
    head.emplace_back(more);
  lines.add(head);
  for (const auto& r : rows) {
    std::vector<std::string> cells{r.name};
    for (const auto& e : r.errors)
      cells.push_back(fmt::format("{:.3f}", mean_of(e).mean));
    cells.push_back(interval_text(r.mean));
    cells.push_back(interval_text(r.regret));
    cells.push_back(std::to_string(r.without));
    cells.push_back(fmt::format("{:.0f} %", 100 * r.latest));
    lines.add(cells);
  }
  return lines.to_text(2);
}

nlohmann::ordered_json to_json(const std::vector<spent_time>& rows) {
  auto out = nlohmann::ordered_json::array();
  for (const auto& r : rows) {
    nlohmann::ordered_json one{{"name", r.name}};
    for (std::size_t i = 0; i < shares.size(); ++i)
      one["error"].push_back({{"share", shares[i]}, {"mean", mean_of(r.errors[i]).mean}});
    one["mean_over_time"] = mean_of(r.mean).mean;
    one["regret"] = mean_of(r.regret).mean;
    one["without_model"] = r.without;
    one["latest_end"] = r.latest;
    out.push_back(std::move(one));
  }
  return out;
}

int bench_anytime(const anytime_options& options) {
  constexpr std::array machines{std::pair{machine_kind::quiet, "quiet"},
                                std::pair{machine_kind::slower, "slower"},
                                std::pair{machine_kind::stops, "stops"}};
  nlohmann::ordered_json all{{"worlds", options.worlds}, {"seed", options.seed}};
  std::string text =
      fmt::format("error of the model at hand, mean of {} worlds\n", options.worlds);
  for (const auto& [kind, name] : machines) {
    const auto rows = compare(kind, options);
    if (!rows)
      return report(rows.error());
    all["machines"][name] = to_json(*rows);
    text += to_text(name, *rows);
  }
  std::cout << (options.json ? all.dump() + "\n" : text);
  return 0;
}

} // namespace

void add_bench_anytime(CLI::App& bench, command& chosen) {
  auto options = std::make_shared<anytime_options>();
  auto* sub = bench.add_subcommand(
      "anytime", "What model is at hand when, of runs that are given a time");
  sub->add_option("--worlds", options->worlds,
                  "So many made-up machines and sets of networks")
      ->capture_default_str()
      ->check(CLI::Range(2, 100'000));
  sub->add_option("--seed", options->seed, "The first of them")->capture_default_str();
  sub->add_flag("--json", options->json, "One JSON object, for programs");
  sub->footer(
      "Nothing is trained: curves are drawn, and who plans and what the clock orders is "
      "the "
      "engine\nthat runs. \"one network\" is any, trained all the time; "
      "\"random\" takes the\nchampion of a random search. \"regret\" is behind the best "
      "network that any of them\ntried, had it been trained all the time.");
  sub->callback(
      [&chosen, options] { chosen = [options] { return bench_anytime(*options); }; });
}

} // namespace clade
