// What a run would cost, from what can be known before it:
//
//   * the networks of generation 0, bred as the run would breed them (200 of them,
//   whatever the
//     population), decoded for their parameters and training memory;
//   * a measured step: one epoch each of the networks at the quartiles of `work`. Seconds
//   for each
//     unit of work, times the mean work, times the epochs, is an evaluation;
//   * slots and evaluations, from the experiment.
//
// Evolution drifts from generation 0, mostly towards larger networks, so time is said to
// be "about" and, with early stops, "at most". Nothing is written.

#include "engine/report/format.hpp"
#include "engine/training/recipe.hpp"
#include "tools/command.hpp"
#include "tools/new_run.hpp"
#include "tools/slots.hpp"

#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <numeric>
#include <optional>

namespace clade {

namespace {

constexpr std::size_t samples = 200;

struct plan_options {
  std::filesystem::path file;
  std::vector<std::string> overrides;
  std::optional<std::uint64_t> seed;
  std::string slots;
  bool json = false;
};

/// One network of generation 0.
struct sampled {
  candidate made;
  std::uint64_t parameters = 0;
  std::uint64_t training_bytes = 0;
};

/// What training one epoch showed.
struct measured {
  double seconds_per_work = 0;
  std::uint64_t process_bytes =
      0; ///< Of a process that trains, data and LibTorch included.
  std::size_t networks = 0;
};

struct plan {
  checked_experiment checked;
  std::vector<std::string> slots;
  std::vector<sampled> networks; ///< By rising work.
  std::optional<measured> step;
  std::string not_measured; ///< Why.

  [[nodiscard]] std::uint64_t evaluations() const {
    const auto& p = checked.experiment.evolution;
    return static_cast<std::uint64_t>(p.population) * p.generations;
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

expected<std::vector<sampled>> sample_networks(const checked_experiment& checked) {
  const experiment& e = checked.experiment;
  std::vector<sampled> networks;
  for (std::uint64_t i = 0; i < samples; ++i) {
    auto made = breed({e.space, checked.problem, e.evolution.mutation, e.seed},
                      {.id = i + 1, .index = i});
    if (!made)
      return tl::unexpected(std::move(made).error());
    const auto decoded = decode(e.space, *made->genome, checked.problem);
    const auto trained = recipe_of(e.training, made->genome->hyperparameters);
    if (!decoded || !trained)
      return tl::unexpected(decoded ? trained.error() : decoded.error());
    networks.push_back({.made = std::move(*made),
                        .parameters = decoded->cost().parameters,
                        .training_bytes = training_bytes(
                            *decoded, static_cast<std::uint64_t>(trained->batch_size),
                            state_copies(*trained))});
  }
  std::sort(networks.begin(), networks.end(),
            [](const sampled& a, const sampled& b) { return a.made.work < b.made.work; });
  return networks;
}

/// Hears of epochs and does nothing.
class unheard : public progress {
public:
  bool report(const epoch&) override { return true; }
};

/// Trains the networks at the quartiles for one epoch each, in this process.
expected<measured> measure(const experiment& e, const slot& s,
                           const std::vector<sampled>& networks) {
  // As the slot's own process has it; LibTorch reads it when it is loaded.
  for (const std::string& variable : s.environment) {
    const auto is = variable.find('=');
    ::setenv(variable.substr(0, is).c_str(), variable.c_str() + is + 1, 1);
  }
  auto trainer = load_training(module_path(), {.training = e.training,
                                               .data = e.data,
                                               .space = e.space,
                                               .goal = e.objective,
                                               .seed = e.seed,
                                               .device = s.device});
  if (!trainer)
    return tl::unexpected(std::move(trainer).error());
  if (auto warm = (*trainer)->warm_up(); !warm)
    return tl::unexpected(std::move(warm).error());
  double seconds = 0, work = 0;
  measured step;
  unheard nobody;
  for (std::size_t quartile = 1; quartile <= 3; ++quartile) {
    const sampled& n = networks[quartile * networks.size() / 4];
    const job one_epoch{.id = n.made.id,
                        .genome = *n.made.genome,
                        .seed = e.seed,
                        .budget = {.epochs = 1, .time = e.limits.evaluation_time}};
    const auto done = (*trainer)->evaluate(one_epoch, nobody).evaluation;
    if (done.outcome != outcome::succeeded)
      continue;
    seconds += done.seconds;
    work += n.made.work;
    ++step.networks;
  }
  if (step.networks == 0)
    return fail(error_kind::internal,
                "none of the three networks that were tried could be trained");
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  step.process_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
  step.seconds_per_work = seconds / work;
  return step;
}

expected<plan> make_plan(const plan_options& options) {
  auto overrides = options.overrides;
  if (options.seed)
    overrides.push_back("experiment.seed=" + std::to_string(*options.seed));
  if (!options.slots.empty())
    overrides.push_back("slots.local=\"" + options.slots + "\"");
  auto e = load_experiment(options.file, overrides);
  if (!e)
    return tl::unexpected(std::move(e).error());
  auto checked = check_experiment(std::move(*e));
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
  if (slots->empty())
    p.not_measured = "this machine trains nothing (slots.local is none)";
  else if (p.checked.experiment.fitness != fitness_kind::training)
    return p;
  else if (auto step = measure(p.checked.experiment, slots->front(), p.networks))
    p.step = *step;
  else
    p.not_measured = step.error().message;
  return p;
}

/// Of one evaluation, on one slot; nothing if it was not measured.
std::optional<double> evaluation_seconds(const plan& p) {
  const experiment& e = p.checked.experiment;
  if (e.fitness == fitness_kind::table)
    return 0;
  if (e.fitness == fitness_kind::synthetic)
    return std::chrono::duration<double>(e.synthetic.duration).count();
  if (!p.step)
    return std::nullopt;
  return p.step->seconds_per_work * mean_work(p.networks) * e.training.epochs;
}

std::optional<double> total_seconds(const plan& p) {
  const auto one = evaluation_seconds(p);
  if (p.slots.empty())
    return std::nullopt;
  const auto rounds =
      static_cast<double>(p.evaluations()) / static_cast<double>(p.slots.size());
  return one ? std::optional(*one * rounds) : std::nullopt;
}

/// Records and tables of every evaluation, and the weights of the best.
std::uint64_t disk_bytes(const plan& p) {
  // Measured on stores of 240 and 960 evaluations with 0 and 15 epochs of three metrics.
  constexpr std::uint64_t store_bytes = 64 << 10, evaluation_bytes = 500,
                          epoch_bytes = 215;
  const experiment& e = p.checked.experiment;
  const std::uint64_t epochs =
      e.fitness == fitness_kind::training ? e.training.epochs : e.synthetic.epochs;
  std::uint64_t genomes = 0;
  for (const sampled& n : p.networks)
    genomes += encode(*n.made.genome).size();
  const auto each = evaluation_bytes + genomes / p.networks.size() + epochs * epoch_bytes;
  const auto weights =
      e.fitness == fitness_kind::training
          ? run_state::kept_best * 4 * spread_of(p.networks, &sampled::parameters).largest
          : 0;
  return store_bytes + p.evaluations() * each + weights;
}

std::string grouped(std::uint64_t n) {
  std::string text = std::to_string(n);
  for (std::size_t at = text.size(); at > 3; at -= 3)
    text.insert(at - 3, ",");
  return text;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& w : words)
    out += (out.empty() ? "" : ", ") + w;
  return out;
}

std::string time_line(const plan& p) {
  const experiment& e = p.checked.experiment;
  const auto one = evaluation_seconds(p), all = total_seconds(p);
  if (!one || !all)
    return "not measured: " + p.not_measured;
  std::string line = "about " + duration_text(*all) + " on these slots, "
                     + duration_text(*one) + " an evaluation";
  if (p.step)
    line += " of " + std::to_string(e.training.epochs) + " epochs ("
            + std::to_string(p.step->networks) + " networks trained for one, to measure)";
  return line;
}

void print(const plan& p) {
  const experiment& e = p.checked.experiment;
  const auto parameters = spread_of(p.networks, &sampled::parameters);
  const auto memory = spread_of(p.networks, &sampled::training_bytes);
  const auto& goal = e.objective;
  table lines({table::align::left, table::align::left});
  lines.add({"problem", to_text(p.checked.problem.input) + " to "
                            + std::to_string(p.checked.problem.outputs)
                            + (p.checked.problem.outputs == 1 ? " number" : " classes")});
  lines.add({"search", e.evolution.strategy + ", seed " + std::to_string(e.seed) + ", to "
                           + (goal.maximize ? "maximize " : "minimize ") + goal.metric});
  if (!e.evolution.chosen.empty())
    lines.add({"auto chose", e.evolution.chosen});
  lines.add({"evaluations",
             grouped(p.evaluations()) + " (" + std::to_string(e.evolution.generations)
                 + " generations of " + std::to_string(e.evolution.population) + ")"});
  lines.add({"slots", p.slots.empty() ? "none here"
                                      : std::to_string(p.slots.size()) + " ("
                                            + joined(p.slots) + ")"});
  lines.add({"parameters", grouped(parameters.median)
                               + " of a network in the median, at most "
                               + grouped(parameters.largest) + " (of "
                               + std::to_string(p.networks.size()) + " sampled)"});
  lines.add({"memory", size_text(memory.median) + " a candidate in the median, at most "
                           + size_text(memory.largest)
                           + (p.step ? "; a node process with LibTorch and the data "
                                           + size_text(p.step->process_bytes)
                                     : "")});
  lines.add({"time", time_line(p)});
  lines.add({"disk", "about " + size_text(disk_bytes(p))});
  std::cout << e.name << ": what a run would do; nothing was created\n"
            << lines.to_text(2);
  const double wall = std::chrono::duration<double>(e.limits.wall_time).count();
  if (const auto all = total_seconds(p); all && wall > 0 && *all > wall)
    std::cout << "  limits.wall_time is " << duration_text(wall)
              << ": the run will pause then, and `clade resume` goes on\n";
  if (e.limits.evaluation_memory > 0 && memory.largest > e.limits.evaluation_memory)
    std::cout << "  limits.evaluation_memory is " << size_text(e.limits.evaluation_memory)
              << ": some candidates will fail for it\n";
}

void print_json(const plan& p) {
  const experiment& e = p.checked.experiment;
  const auto parameters = spread_of(p.networks, &sampled::parameters);
  const auto memory = spread_of(p.networks, &sampled::training_bytes);
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
  out["evaluations"] = p.evaluations();
  out["slots"] = p.slots;
  out["sampled"] = p.networks.size();
  out["parameters"] = {{"median", parameters.median}, {"largest", parameters.largest}};
  out["training_bytes"] = {{"median", memory.median}, {"largest", memory.largest}};
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
  auto* sub =
      app.add_subcommand("plan", "Say what a run would do and cost, and create nothing");
  sub->add_option("file", options->file,
                  "Experiment file, such as experiments/digits.toml")
      ->required();
  sub->add_option("--seed", options->seed, "Instead of experiment.seed");
  sub->add_option("--slots", options->slots,
                  "Instead of slots.local: auto, none, a number of CPU slots, or GPUs: "
                  "cuda, cuda:0*2");
  sub->add_option(
         "--set", options->overrides,
         "key=value in the place of the file's, such as evolution.population=48; "
         "repeatable")
      ->take_all();
  sub->add_flag("--json", options->json, "One JSON object, for programs");
  sub->footer(
      "Checks the experiment and its data as `clade run` does, samples networks of its\n"
      "search space, and trains three of them for one epoch to measure the time. Times\n"
      "are estimates: evolution moves away from the networks that it begins with.");
  sub->callback(
      [&chosen, options] { chosen = [options] { return show_plan(*options); }; });
}

} // namespace clade
