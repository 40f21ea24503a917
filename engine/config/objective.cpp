// [objective] says maximize or minimize, and one metric. Without the section it is what
// the task is usually judged by.

#include "engine/config/sections.hpp"
#include "engine/training/metrics.hpp"
#include "search_spaces/nearest.hpp"

namespace clade {
namespace {

// Of the validation part, as the synthetic fitness has them too.
std::string objective_name(const part_metric& m) {
  return "validation." + std::string(m.name);
}

void check_metric(table_reader& table, std::string_view key,
                  std::span<const part_metric> known, std::string_view task,
                  const objective& o) {
  std::vector<std::string> names;
  std::string listed;
  for (const part_metric& m : known) {
    names.push_back(objective_name(m));
    listed += (listed.empty() ? "" : ", ") + names.back();
    if (names.back() != o.metric)
      continue;
    if (m.maximize != o.maximize)
      table.fail(key, o.metric + " is better when it is "
                          + (m.maximize ? "higher" : "lower") + "; write "
                          + (m.maximize ? "maximize" : "minimize") + " = [\"" + o.metric
                          + "\"]");
    return;
  }
  const std::string near = nearest(o.metric, names);
  table.fail(
      key, std::string(task) + " has no metric \"" + o.metric + "\"; "
               + (near.empty() ? "it has " + listed : "did you mean \"" + near + "\"?"));
}

std::span<const part_metric> metrics_of(fitness_kind fitness, task_kind task) {
  const bool numbers = fitness == fitness_kind::training && task == task_kind::regression;
  return part_metrics(numbers ? task_kind::regression : task_kind::classification);
}

} // namespace

std::vector<objective> known_objectives(const experiment& e) {
  std::vector<objective> all;
  for (const part_metric& m : metrics_of(e.fitness, e.data.task))
    all.push_back({objective_name(m), m.maximize});
  return all;
}

void read_objective(table_reader& table, fitness_kind fitness, task_kind task,
                    objective& out) {
  const bool numbers = fitness == fitness_kind::training && task == task_kind::regression;
  const auto known = metrics_of(fitness, task);
  out = {objective_name(known.front()), known.front().maximize};
  std::vector<std::string> raised, lowered;
  table.read_list("maximize", raised);
  table.read_list("minimize", lowered);
  table.finish();
  const std::size_t count = raised.size() + lowered.size();
  const std::string_view key = table.has("maximize") ? "maximize" : "minimize";
  if (count == 0) {
    if (table.has(key))
      table.fail(key, "objective." + std::string(key) + " names no metric");
    return;
  }
  if (count > 1) {
    table.fail(key, "the objective names " + std::to_string(count)
                        + " metrics; one is optimised, keep the one that matters most");
    return;
  }
  out = {raised.empty() ? lowered.front() : raised.front(), !raised.empty()};
  check_metric(table, raised.empty() ? "minimize" : "maximize", known,
               fitness == fitness_kind::synthetic ? "the synthetic fitness"
               : numbers                          ? "regression"
                                                  : "classification",
               out);
}

} // namespace clade
