// [objective] says which metrics to maximize and which to minimize, and what a network
// must keep to (at_most, at_least). Without the section it is what the task is usually
// judged by. Metrics to be raised come first, in the order in which they stand.

#include "engine/config/experiment/sections.hpp"
#include "engine/training/metrics/metrics.hpp"
#include "genome/base/text.hpp"
#include "search_spaces/operators/nearest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace clade {
namespace {

/// More would make every network the best in something.
constexpr std::size_t most_aims = 6;

/// The metrics by which the experiment's candidates are measured.
struct known_metrics {
  std::string task;
  std::vector<aim> all{}; ///< With the direction that is better.
  std::vector<std::string> names{};
  /// A text for messages on what else there is.
  std::string also{};
  /// Other names, each with the usual one behind it.
  std::vector<std::pair<std::string, std::string>> aliases{};
  /// Metrics of a table of which nobody says which direction is better.
  std::vector<std::string> either_way{};

  void add(std::string name, bool maximize) {
    names.push_back(name);
    all.push_back({std::move(name), maximize});
  }
};

known_metrics metrics_of(const table_description& described) {
  known_metrics known{.task = "the table"};
  known.add(described.objective.metric, described.objective.maximize);
  for (const auto& m : described.metrics)
    if (!m.name.starts_with("test.") && m.name != described.objective.metric) {
      known.add(m.name, true);
      known.either_way.push_back(m.name);
    }
  return known;
}

constexpr std::string_view validation = "validation.";

known_metrics metrics_of(const learning_task& task) {
  known_metrics known{.task = std::string(task.name)};
  // The metrics are those of the validation part.
  for (const part_metric& m : all_part_metrics(task))
    known.add(std::string(validation) + std::string(m.name), m.maximize);
  if (task.has_classes()) {
    known.also = "validation.f1.CLASS";
    known.aliases = {{"validation.log_loss", "validation.loss"}};
  }
  for (const auto cost : {parameters_metric, multiply_adds_metric, latency_metric})
    known.add(std::string(cost), false);
  return known;
}

known_metrics metrics_of(const experiment& e) {
  if (e.traits().trains)
    return metrics_of(e.data.task);
  const auto given = e.evaluator->metrics();
  known_metrics known{.task = given.of};
  for (const auto& m : given.all)
    known.add(m.metric, m.maximize);
  return known;
}

/// "a, b"
std::string listed(const known_metrics& known) {
  const std::string list = joined(known.names);
  return known.also.empty() ? list : fmt::format("{}, {}", list, known.also);
}

/// Returns the way out where another task has that metric.
std::string other_task_with(std::string_view metric, std::string_view task) {
  if (!find_learning_task(task) || !metric.starts_with(validation))
    return {};
  for (const auto& other : learning_tasks)
    if (other.name != task && find_part_metric(other, metric.substr(validation.size())))
      return fmt::format("; if the task is {}, say data.task = \"{}\"", other.name,
                         other.name);
  return {};
}

void check_aim(table_reader& table, const known_metrics& known, const aim& wanted) {
  const std::string_view key = wanted.maximize ? "maximize" : "minimize";
  const auto found = std::ranges::find(known.all, wanted.metric, &aim::metric);
  if (found == known.all.end()) {
    const std::string near = nearest(wanted.metric, known.names);
    table.fail(key,
               fmt::format("{} has no metric \"{}\"; {}{} has {}{}", known.task,
                           wanted.metric,
                           near.empty() ? "" : fmt::format("did you mean \"{}\"? ", near),
                           near.empty() ? "it" : "It", listed(known),
                           other_task_with(wanted.metric, known.task)));
  } else if (found->maximize != wanted.maximize
             && std::ranges::find(known.either_way, wanted.metric)
                    == known.either_way.end()) {
    table.fail(key,
               fmt::format("{} is better when it is {}; write {} = [\"{}\"]",
                           wanted.metric, found->maximize ? "higher" : "lower",
                           found->maximize ? "maximize" : "minimize", wanted.metric));
  }
}

void check_aims(table_reader& table, const known_metrics& known,
                const std::vector<aim>& aims) {
  const std::string_view last = aims.back().maximize ? "maximize" : "minimize";
  if (aims.size() > most_aims)
    return table.fail(
        last,
        fmt::format("the objective names {} metrics; at most {} are weighed against each "
                    "other, make a constraint of the others (at_most, at_least)",
                    aims.size(), most_aims));
  for (std::size_t i = 0; i < aims.size(); ++i) {
    check_aim(table, known, aims[i]);
    for (std::size_t j = 0; j < i; ++j)
      if (aims[i].metric == aims[j].metric)
        table.fail(aims[i].maximize ? "maximize" : "minimize",
                   fmt::format("the objective names {} twice", aims[i].metric));
  }
}

void read_constraints(table_reader& table, const char* key, const known_metrics& known,
                      std::vector<constraint>& out) {
  auto limits = table.table(key);
  const auto read = [&](const std::string& name, const std::string& usual) {
    constraint c{.metric = usual, .at_most = std::string_view(key) == "at_most"};
    limits.read(name, c.limit);
    if (!limits.has(name))
      return;
    if (!std::isfinite(c.limit))
      limits.fail(name, fmt::format("objective.{}.{} is no finite number", key, name));
    out.push_back(c);
  };
  for (const auto& name : known.names)
    read(name, name);
  for (const auto& [name, usual] : known.aliases)
    read(name, usual);
  limits.finish();
}

void check_constraints(table_reader& table, const std::vector<constraint>& all) {
  for (const auto& low : all)
    for (const auto& high : all)
      if (low.metric == high.metric && !low.at_most && high.at_most
          && low.limit > high.limit)
        table.fail("at_least", fmt::format("no candidate keeps to objective.at_least.{} "
                                           "= {} and to objective.at_most.{} = {}",
                                           low.metric, to_text(value{low.limit}),
                                           high.metric, to_text(value{high.limit})));
}

/// Returns the metrics that a resolved experiment on a table names; the table's
/// description may be elsewhere now.
known_metrics metrics_named(const std::vector<std::string>& raised,
                            const std::vector<std::string>& lowered,
                            const std::vector<std::string>& kept_to) {
  known_metrics known{.task = "the table"};
  for (const auto& name : raised)
    known.add(name, true);
  for (const auto& name : lowered)
    known.add(name, false);
  for (const auto& name : kept_to)
    if (std::ranges::find(known.names, name) == known.names.end())
      known.add(name, true);
  return known;
}

/// The F1 of a class becomes a known metric where there is such a thing.
std::string usual_name(const std::string& name, known_metrics& known) {
  for (const auto& [other, usual] : known.aliases)
    if (name == other)
      return usual;
  constexpr std::string_view f1_of = "validation.f1.";
  if (!known.also.empty() && name.starts_with(f1_of) && name.size() > f1_of.size()
      && std::ranges::find(known.names, name) == known.names.end())
    known.add(name, true);
  return name;
}

// The default in `out` stays where none is named.
void read_aims(table_reader& table, const std::optional<known_metrics>& metrics,
               objective& out) {
  std::vector<std::string> raised, lowered;
  table.read_list("maximize", raised);
  table.read_list("minimize", lowered);
  std::vector<std::string> limited;
  for (const char* key : {"at_most", "at_least"})
    for (auto& name : table.table(key).names())
      limited.push_back(std::move(name));
  auto known = metrics ? *metrics : metrics_named(raised, lowered, limited);
  for (auto* names : {&raised, &lowered, &limited})
    for (auto& name : *names)
      name = usual_name(name, known);
  read_constraints(table, "at_most", known, out.constraints);
  read_constraints(table, "at_least", known, out.constraints);
  table.finish();
  check_constraints(table, out.constraints);
  std::vector<aim> aims;
  for (const auto& name : raised)
    aims.push_back({name, true});
  for (const auto& name : lowered)
    aims.push_back({name, false});
  if (aims.empty()) {
    const std::string_view key = table.has("maximize") ? "maximize" : "minimize";
    if (table.has(key))
      table.fail(key, fmt::format("objective.{} names no metric", key));
    return;
  }
  check_aims(table, known, aims);
  out.metric = aims.front().metric;
  out.maximize = aims.front().maximize;
  out.others.assign(aims.begin() + 1, aims.end());
}

} // namespace

std::vector<aim> known_aims(const experiment& e) {
  if (!e.traits().trains)
    return e.evaluator->cases(e.objective);
  std::vector<aim> known;
  const auto& task = e.data.task;
  for (const part_metric& m : part_metrics(task))
    known.push_back({std::string(validation) + std::string(m.name), m.maximize});
  for (const auto& name : asked_for(task, e.objective, e.training.metrics).validation)
    known.push_back(
        {std::string(validation) + name, find_part_metric(task, name)->maximize});
  return known;
}

void read_objective(table_reader& table, const experiment& e, objective& out) {
  const auto known = metrics_of(e);
  if (known.all.empty()) {
    if (!table.has("maximize") && !table.has("minimize"))
      table.fail("", fmt::format("objective.maximize or objective.minimize is missing: "
                                 "it names a metric that {} answers with",
                                 known.task));
    return read_aims(table, std::nullopt, out);
  }
  out = {.metric = known.all.front().metric, .maximize = known.all.front().maximize};
  read_aims(table, known, out);
}

void read_objective(table_reader& table, const table_description* described,
                    objective& out) {
  if (described == nullptr)
    return read_aims(table, std::nullopt, out);
  out = described->objective;
  read_aims(table, metrics_of(*described), out);
}

} // namespace clade
