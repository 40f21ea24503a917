// The cost of a run, from what can be known before it:
//
//   * the networks of generation 0, bred as the run would breed them (200 of them,
//     whatever the population), decoded for their parameters and training memory;
//   * a measured step: one epoch each of the networks at the quartiles of `work`, with a
//     few thousand examples where there are more. Seconds
//     for each unit of work, times the mean work, times the epochs, is an evaluation;
//   * slots and evaluations, from the experiment; where there are rungs, the epochs of a
//     search that is run without training.
//
// Evolution drifts from generation 0, mostly towards larger networks, so time is said to
// be "about" and, with early stops, "at most". Nothing is written.

#include "engine/report/base/format.hpp"
#include "engine/simulation/planned_work.hpp"
#include "genome/base/text.hpp"
#include "tools/cli/base/command.hpp"
#include "tools/cli/run/plan_sample.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <ranges>

namespace clade {

namespace {

struct plan_options {
  std::filesystem::path file;
  std::vector<std::string> overrides;
  std::optional<std::uint64_t> seed;
  std::string slots;
  double within = 0; ///< Seconds that measuring may take; 0: no limit.
  bool json = false;
};

struct plan {
  checked_experiment checked;
  std::vector<std::string> slots;
  std::vector<sampled> networks; ///< By rising work.
  std::optional<trial_step> step;
  std::string not_measured; ///< Why.
  std::uint32_t full = 0;   ///< Epochs of a full training.
  std::uint64_t epochs = 0; ///< The epochs of all trainings.
  std::uint64_t open = 0; ///< Candidates in training at once, as far as there are slots.

  [[nodiscard]] std::uint64_t evaluations() const {
    const auto& p = checked.experiment.evolution;
    return static_cast<std::uint64_t>(p.population) * p.generations;
  }
  /// Returns the mean epochs of an evaluation.
  [[nodiscard]] double mean_epochs() const {
    return static_cast<double>(epochs) / static_cast<double>(evaluations());
  }
};

/// The median and the largest of a number of each network.
struct spread {
  std::uint64_t median = 0;
  std::uint64_t largest = 0;
};

spread spread_of(const std::vector<sampled>& networks, std::uint64_t sampled::*number) {
  std::vector<std::uint64_t> all;
  for (const sampled& n : networks)
    all.push_back(n.*number);
  std::sort(all.begin(), all.end());
  return {.median = all[all.size() / 2], .largest = all.back()};
}

double mean_work(const std::vector<sampled>& networks) {
  return std::accumulate(networks.begin(), networks.end(), 0.0,
                         [](double sum, const sampled& n) { return sum + n.made.work; })
         / static_cast<double>(networks.size());
}

expected<void> count_work(plan& p) {
  const experiment& e = p.checked.experiment;
  p.full = full_epochs(e);
  const auto epochs = planned_epochs(rules_of(e), p.checked.problem, p.full);
  if (!epochs)
    return tl::unexpected(epochs.error());
  const auto open =
      open_at_once(rules_of(e), p.checked.problem, trainings_at_once(e, p.slots.size()));
  if (!open)
    return tl::unexpected(open.error());
  p.epochs = *epochs;
  p.open = *open;
  return {};
}

expected<plan> make_plan(const plan_options& options) {
  auto overrides = options.overrides;
  if (options.seed)
    overrides.push_back(fmt::format("experiment.seed={}", *options.seed));
  if (!options.slots.empty())
    overrides.push_back(fmt::format("slots.local=\"{}\"", options.slots));
  auto e = load_experiment(options.file, overrides);
  if (!e)
    return tl::unexpected(std::move(e).error());
  auto checked = check_fresh(std::move(*e));
  if (!checked)
    return tl::unexpected(std::move(checked).error());
  const auto slots = parse_slots(checked->experiment.slots.local);
  if (!slots)
    return tl::unexpected(slots.error());
  auto networks = sample_networks(*checked);
  if (!networks)
    return tl::unexpected(std::move(networks).error());
  plan p{.checked = std::move(*checked), .networks = std::move(*networks)};
  for (const slot& s : *slots)
    p.slots.push_back(s.name);
  if (auto counted = count_work(p); !counted)
    return tl::unexpected(std::move(counted).error());
  if (slots->empty())
    p.not_measured = "this machine trains nothing (slots.local is none)";
  else if (!p.checked.experiment.traits().trains)
    p.not_measured = p.checked.experiment.evaluator->seconds(p.mean_epochs())
                         ? ""
                         : "nothing says how long an evaluation takes";
  else if (auto step =
               measure(p.checked, slots->front(), p.networks,
                       std::chrono::milliseconds(std::llround(1e3 * options.within))))
    p.step = *step;
  else
    p.not_measured = step.error().message;
  return p;
}

/// Returns the time of one evaluation, on one slot; nothing if it was not measured.
std::optional<double> evaluation_seconds(const plan& p) {
  const experiment& e = p.checked.experiment;
  if (!e.traits().trains)
    return e.evaluator->seconds(p.mean_epochs());
  if (!p.step)
    return std::nullopt;
  return p.step->seconds_per_work * mean_work(p.networks) * p.mean_epochs();
}

std::optional<double> total_seconds(const plan& p) {
  const auto one = evaluation_seconds(p);
  if (p.slots.empty())
    return std::nullopt;
  const auto rounds =
      static_cast<double>(p.evaluations())
      / static_cast<double>(std::min<std::uint64_t>(
          p.slots.size(), p.open * slots_of_training(p.checked.experiment)));
  return one ? std::optional(*one * rounds) : std::nullopt;
}

/// Records and tables of every evaluation, and the weights of the best.
std::uint64_t disk_bytes(const plan& p) {
  // Measured on stores of 240 and 960 evaluations with 0 and 15 epochs of three metrics.
  constexpr std::uint64_t store_bytes = 64 << 10, evaluation_bytes = 500,
                          epoch_bytes = 215;
  const experiment& e = p.checked.experiment;
  std::uint64_t genomes = 0;
  for (const sampled& n : p.networks)
    genomes += encode(*n.made.genome).size();
  const auto each = evaluation_bytes + genomes / p.networks.size();
  const auto weights =
      e.traits().trains
          ? most_final_genomes * 4 * spread_of(p.networks, &sampled::parameters).largest
          : 0;
  return store_bytes + p.evaluations() * each + p.epochs * epoch_bytes + weights;
}

std::string grouped(std::uint64_t n) {
  std::string text = std::to_string(n);
  for (std::size_t at = text.size(); at > 3; at -= 3)
    text.insert(at - 3, ",");
  return text;
}

std::string epochs_text(const plan& p) {
  return p.epochs == p.full * p.evaluations() ? std::to_string(p.full)
                                              : metric_text(p.mean_epochs());
}

double share_of_its_end(const plan& p) {
  const experiment& e = p.checked.experiment;
  return share_of_end(e.final_stage,
                      {.slots = std::max<std::size_t>(1, p.slots.size()),
                       .time = e.limits.wall_time,
                       .epochs = full_epochs(e)},
                      evaluation_seconds(p).value_or(0) / std::max(1.0, p.mean_epochs()));
}

/// "1 of 150, 2 of 40, 3 of 10 networks"; empty where all are trained on one slot.
std::string devices_text(const plan& p) {
  std::map<std::uint64_t, std::size_t> count;
  for (const auto& n : p.networks)
    ++count[n.devices];
  std::string text;
  for (const auto& [devices, networks] : count)
    text += fmt::format("{}{} for {}", text.empty() ? "" : ", ", devices, networks);
  return count.empty() || (count.size() == 1 && count.contains(1))
             ? ""
             : fmt::format("{} of {} sampled networks, by training.devices", text,
                           p.networks.size());
}

std::string time_line(const plan& p) {
  const auto one = evaluation_seconds(p), all = total_seconds(p);
  if (!one || !all)
    return "not measured: " + p.not_measured;
  std::string line = fmt::format("about {} on these slots, {} an evaluation",
                                 duration_text(*all), duration_text(*one));
  if (p.step)
    line += fmt::format(" of {} epochs ({} networks trained for one{}, to measure)",
                        epochs_text(p), p.step->networks,
                        p.step->examples < p.checked.examples
                            ? fmt::format(" with {} examples", grouped(p.step->examples))
                            : "");
  return line;
}

/// Says which limit on parameters none of the sampled networks keeps; empty: each is kept
/// by one at least.
std::string unmet_line(const plan& p) {
  for (const constraint& c : p.checked.experiment.objective.constraints) {
    if (c.metric != parameters_metric || !c.at_most)
      continue;
    const auto least =
        std::ranges::min(p.networks | std::views::transform(&sampled::parameters));
    if (static_cast<double>(least) > c.limit)
      return fmt::format("objective.at_most: parameters = {}, and none of the {} sampled "
                         "networks has so few; the smallest has {}",
                         metric_text(c.limit), p.networks.size(), grouped(least));
  }
  return "";
}

void print(const plan& p) {
  const experiment& e = p.checked.experiment;
  const auto parameters = spread_of(p.networks, &sampled::parameters);
  const auto memory = spread_of(p.networks, &sampled::peak_bytes);
  table lines({table::align::left, table::align::left});
  lines.add(
      {"problem", fmt::format("{} to {}{}", to_text(p.checked.problem.input),
                              p.checked.problem.outputs,
                              p.checked.problem.outputs == 1 ? " number" : " classes")});
  for (std::size_t i = 0; i < p.checked.data_lines.size(); ++i)
    lines.add({i == 0 ? "data" : "", p.checked.data_lines[i]});
  lines.add({"search", fmt::format("{}, seed {}, {}", e.evolution.strategy, e.seed,
                                   to_text(e.objective))});
  if (!e.evolution.chosen.empty())
    lines.add({"auto chose", e.evolution.chosen});
  lines.add(
      {"evaluations", fmt::format("{} ({} generations of {})", grouped(p.evaluations()),
                                  e.evolution.generations, e.evolution.population)});
  if (p.epochs != p.full * p.evaluations())
    lines.add(
        {"epochs", fmt::format("{}, of {} if every training were a full one",
                               grouped(p.epochs), grouped(p.full * p.evaluations()))});
  lines.add({"slots", p.slots.empty()
                          ? "none here"
                          : fmt::format("{} ({})", p.slots.size(), joined(p.slots))});
  lines.add({"parameters",
             fmt::format("{} of a network in the median, at most {} (of {} sampled)",
                         grouped(parameters.median), grouped(parameters.largest),
                         p.networks.size())});
  lines.add({"memory", fmt::format("{} a candidate in the median, at most {}{}",
                                   size_text(memory.median), size_text(memory.largest),
                                   p.step ? "; a node process with LibTorch and the data "
                                                + size_text(p.step->process_bytes)
                                          : "")});
  if (const auto text = devices_text(p); !text.empty())
    lines.add({"devices", text});
  lines.add({"time", time_line(p)});
  lines.add({"disk", "about " + size_text(disk_bytes(p))});
  std::cout << e.name << ": what a run would do; nothing was created\n"
            << lines.to_text(2);
  const double wall = std::chrono::duration<double>(e.limits.wall_time).count();
  if (ends_by_clock(e))
    std::cout << "  limits.wall_time is " << duration_text(wall) << ": after "
              << duration_text(wall * (1 - share_of_its_end(p)))
              << " the best are trained to the end, and the final model is made\n";
  else if (const auto all = total_seconds(p); all && wall > 0 && *all > wall)
    std::cout << "  limits.wall_time is " << duration_text(wall)
              << ": the run will pause then, and `clade resume` goes on\n";
  for (const auto& said :
       {idle_slots_line(e, p.open, p.slots.size()), p.checked.note, unmet_line(p)})
    if (!said.empty())
      std::cout << "  " << said << "\n";
  const auto on_each = [](const sampled& n) { return n.peak_bytes / n.devices; };
  if (e.limits.evaluation_memory > 0
      && std::ranges::max(p.networks | std::views::transform(on_each))
             > e.limits.evaluation_memory)
    std::cout << "  limits.evaluation_memory is " << size_text(e.limits.evaluation_memory)
              << ": some candidates will fail for it\n";
}

void print_json(const plan& p) {
  const experiment& e = p.checked.experiment;
  const auto parameters = spread_of(p.networks, &sampled::parameters);
  const auto memory = spread_of(p.networks, &sampled::peak_bytes);
  const auto number = [](const std::optional<double>& v) {
    return v ? nlohmann::ordered_json(*v) : nlohmann::ordered_json(nullptr);
  };
  nlohmann::ordered_json out;
  out["experiment"] = e.name;
  out["seed"] = e.seed;
  out["input"] = p.checked.problem.input.sizes;
  out["outputs"] = p.checked.problem.outputs;
  out["strategy"] = e.evolution.strategy;
  out["chosen"] = e.evolution.chosen.empty() ? nlohmann::ordered_json(nullptr)
                                             : nlohmann::ordered_json(e.evolution.chosen);
  out["data"] = p.checked.data_lines;
  out["evaluations"] = p.evaluations();
  out["epochs"] = p.epochs;
  out["slots"] = p.slots;
  out["sampled"] = p.networks.size();
  out["parameters"] = {{"median", parameters.median}, {"largest", parameters.largest}};
  out["training_bytes"] = {{"median", memory.median}, {"largest", memory.largest}};
  const auto devices = spread_of(p.networks, &sampled::devices);
  out["devices"] = {{"median", devices.median}, {"largest", devices.largest}};
  out["process_bytes"] = p.step ? nlohmann::ordered_json(p.step->process_bytes)
                                : nlohmann::ordered_json(nullptr);
  out["seconds_per_evaluation"] = number(evaluation_seconds(p));
  out["seconds"] = number(total_seconds(p));
  out["not_measured"] = p.not_measured.empty() ? nlohmann::ordered_json(nullptr)
                                               : nlohmann::ordered_json(p.not_measured);
  out["disk_bytes"] = disk_bytes(p);
  std::cout << out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
}

int show_plan(const plan_options& options) {
  const auto p = make_plan(options);
  if (!p)
    return report(p.error());
  if (options.json)
    print_json(*p);
  else
    print(*p);
  return 0;
}

} // namespace

void add_plan(CLI::App& app, command& chosen) {
  auto options = std::make_shared<plan_options>();
  auto* sub = app.add_subcommand("plan", "Check an experiment and estimate its cost");
  sub->add_option("file", options->file,
                  "Experiment file, such as experiments/digits.toml")
      ->required();
  sub->add_option("--seed", options->seed, "Instead of experiment.seed")
      ->check(whole_number(0, largest_seed));
  sub->add_option("--slots", options->slots,
                  "Instead of slots.local: auto, none, a number of CPU slots, or GPUs: "
                  "cuda, cuda:0*2");
  sub->add_option(
         "--set", options->overrides,
         "key=value in the place of the file's, such as evolution.population=48; "
         "repeatable")
      ->take_all();
  sub->add_option("--within", options->within,
                  "Seconds that measuring may take; 0 for no limit")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  sub->add_flag("--json", options->json, "One JSON object, for programs");
  sub->footer(
      "Checks the experiment and its data as `clade run` does, samples networks of its\n"
      "search space, and trains three of them for one epoch, with a few thousand "
      "examples\n"
      "where there are more, to measure the time. Times are estimates: evolution moves\n"
      "away from the networks that it begins with.");
  sub->callback(
      [&chosen, options] { chosen = [options] { return show_plan(*options); }; });
}

} // namespace clade
