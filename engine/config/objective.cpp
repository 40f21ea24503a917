// [objective] says maximize or minimize, and one metric. Without the section it is what
// the task is usually judged by.

#include "engine/config/sections.hpp"
#include "engine/training/metrics.hpp"
#include "search_spaces/nearest.hpp"

namespace clade {
namespace {

// Of the validation part, as the synthetic fitness has them too.
std::vector<objective> objectives_of(std::span<const part_metric> metrics) {
  std::vector<objective> known;
  for (const part_metric& m : metrics)
    known.push_back({"validation." + std::string(m.name), m.maximize});
  return known;
}

void check_metric(table_reader& table, std::string_view key,
                  std::span<const objective> known, std::string_view task,
                  const objective& o) {
  std::vector<std::string> names;
  std::string listed;
  for (const objective& m : known) {
    names.push_back(m.metric);
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

// False where the default in `out` stays, or something is wrong.
bool read_named(table_reader& table, objective& out) {
  std::vector<std::string> raised, lowered;
  table.read_list("maximize", raised);
  table.read_list("minimize", lowered);
  table.finish();
  const std::size_t count = raised.size() + lowered.size();
  const std::string_view key = table.has("maximize") ? "maximize" : "minimize";
  if (count == 0) {
    if (table.has(key))
      table.fail(key, "objective." + std::string(key) + " names no metric");
    return false;
  }
  if (count > 1) {
    table.fail(key, "the objective names " + std::to_string(count)
                        + " metrics; one is optimised, keep the one that matters most");
    return false;
  }
  out = {raised.empty() ? lowered.front() : raised.front(), !raised.empty()};
  return true;
}

bool predicts_numbers(fitness_kind fitness, task_kind task) {
  return fitness == fitness_kind::training && task == task_kind::regression;
}

std::vector<objective> known_of(fitness_kind fitness, task_kind task) {
  return objectives_of(part_metrics(predicts_numbers(fitness, task)
                                        ? task_kind::regression
                                        : task_kind::classification));
}

} // namespace

std::vector<objective> known_objectives(const experiment& e) {
  if (e.fitness == fitness_kind::table)
    return {e.objective};
  return known_of(e.fitness, e.data.task);
}

void read_objective(table_reader& table, fitness_kind fitness, task_kind task,
                    objective& out) {
  const bool numbers = predicts_numbers(fitness, task);
  const auto known = known_of(fitness, task);
  out = known.front();
  if (read_named(table, out))
    check_metric(table, out.maximize ? "maximize" : "minimize", known,
                 fitness == fitness_kind::synthetic ? "the synthetic fitness"
                 : numbers                          ? "regression"
                                                    : "classification",
                 out);
}

void read_objective(table_reader& table, const table_description* described,
                    objective& out) {
  if (described != nullptr)
    out = described->objective;
  if (!read_named(table, out) || described == nullptr)
    return;
  std::vector<objective> known{described->objective};
  for (const auto& m : described->metrics)
    if (!m.name.starts_with("test.") && m.name != known.front().metric)
      known.push_back({m.name, out.maximize});
  check_metric(table, out.maximize ? "maximize" : "minimize", known, "the table", out);
}

} // namespace clade
