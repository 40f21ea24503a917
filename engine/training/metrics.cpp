#include "engine/training/metrics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace clade {
namespace {

using class_function = double (*)(const class_predictions&);

/// On demand, of classes; "f1.CLASS" stands beside it.
struct class_metric {
  part_metric is;
  class_function measure;
};

constexpr part_metric of_classes[] = {{"accuracy", true}, {"loss", false}};
constexpr part_metric of_numbers[] = {
    {"rmse", false}, {"mse", false}, {"r2", true}, {"loss", false}};

template<double (*of)(const confusion_counts&)>
double of_confusion(const class_predictions& p) {
  return of(confusion_of(p));
}

template<std::size_t k>
double of_top(const class_predictions& p) {
  return top(p, k);
}

constexpr class_metric more_of_classes[] = {
    {{"balanced_accuracy", true}, of_confusion<balanced_accuracy>},
    {{"auc", true}, auc},
    {{"f1_macro", true}, of_confusion<f1_macro>},
    {{"matthews", true}, of_confusion<matthews>},
    {{"top_3", true}, of_top<3>},
    {{"top_5", true}, of_top<5>}};

struct value_metric {
  part_metric is;
  double (*measure)(const value_predictions&);
};

constexpr value_metric more_of_numbers[] = {
    {{"mae", false}, mean_absolute_error},
    {{"mape", false}, mean_absolute_percentage_error}};

constexpr std::string_view f1_of = "f1.";
constexpr std::string_view validation = "validation.", train = "train.";

bool every_epoch_has(task_kind task, std::string_view name) {
  return std::ranges::find(part_metrics(task), name, &part_metric::name)
         != part_metrics(task).end();
}

void add(std::vector<std::string>& to, std::string_view name) {
  const auto place = std::ranges::lower_bound(to, name);
  if (place == to.end() || *place != name)
    to.emplace(place, name);
}

/// Of the part that the name begins with.
void add_asked(task_kind task, std::string_view name, asked_metrics& to) {
  const bool of_train = name.starts_with(train);
  if (of_train)
    name.remove_prefix(train.size());
  else if (name.starts_with(validation))
    name.remove_prefix(validation.size());
  const auto found = find_part_metric(task, name);
  if (!found)
    return;
  // The training's own loss is there anyway.
  if (of_train ? found->name != "loss" : !every_epoch_has(task, found->name))
    add(of_train ? to.train : to.validation,
        name.starts_with(f1_of) ? name : found->name);
}

} // namespace

std::span<const part_metric> part_metrics(task_kind task) {
  return task == task_kind::classification ? std::span<const part_metric>(of_classes)
                                           : of_numbers;
}

std::vector<part_metric> all_part_metrics(task_kind task) {
  const auto usual = part_metrics(task);
  std::vector<part_metric> all(usual.begin(), usual.end());
  if (task == task_kind::classification)
    for (const auto& m : more_of_classes)
      all.push_back(m.is);
  else
    for (const auto& m : more_of_numbers)
      all.push_back(m.is);
  return all;
}

std::optional<part_metric> find_part_metric(task_kind task, std::string_view name) {
  const bool classes = task == task_kind::classification;
  if (classes && name == "log_loss")
    name = "loss";
  if (classes && name.starts_with(f1_of) && name.size() > f1_of.size())
    return part_metric{name, true};
  for (const auto& m : all_part_metrics(task))
    if (m.name == name)
      return m;
  return std::nullopt;
}

std::string part_metric_list(task_kind task, std::string_view prefix) {
  std::string list;
  for (const auto& m : all_part_metrics(task))
    (list += list.empty() ? "" : ", ") += std::string(prefix) + std::string(m.name);
  return task == task_kind::classification
             ? list + ", " + std::string(prefix) + std::string(f1_of) + "CLASS"
             : list;
}

asked_metrics asked_for(task_kind task, const objective& goal,
                        std::span<const std::string> named) {
  asked_metrics asked;
  for (const auto& a : aims_of(goal))
    add_asked(task, a.metric, asked);
  for (const auto& c : goal.constraints)
    add_asked(task, c.metric, asked);
  for (const auto& name : named)
    add_asked(task, name, asked);
  return asked;
}

expected<void> check_metric_names(task_kind task, std::span<const std::string> named) {
  for (const auto& name : named) {
    std::string_view bare = name;
    for (const auto part : {validation, train})
      if (bare.starts_with(part))
        bare.remove_prefix(part.size());
    if (!find_part_metric(task, bare))
      return fail(
          error_kind::invalid_input,
          std::string("metrics: ")
              + (task == task_kind::classification ? "classification" : "regression")
              + " has no metric \"" + name + "\"; it has " + part_metric_list(task, ""));
  }
  return {};
}

expected<void> check_classes(const asked_metrics& asked,
                             std::span<const std::string> classes) {
  for (const auto* names : {&asked.validation, &asked.train})
    for (const auto& name : *names)
      if (name.starts_with(f1_of)
          && std::ranges::find(classes, name.substr(f1_of.size())) == classes.end()) {
        std::string known;
        for (const auto& c :
             classes.subspan(0, std::min<std::size_t>(20, classes.size())))
          known += (known.empty() ? "" : ", ") + std::string(f1_of) + c;
        return fail(error_kind::invalid_input,
                    "the metric \"" + name + "\" names no class of the data; there are "
                        + known + (classes.size() > 20 ? ", ..." : ""));
      }
  return {};
}

std::vector<std::string> epoch_metrics(task_kind task, const asked_metrics& asked) {
  std::vector<std::string> names{"train.loss"};
  for (const part_metric& m : part_metrics(task))
    names.push_back(std::string(validation) + std::string(m.name));
  for (const auto& name : asked.validation)
    names.push_back(std::string(validation) + name);
  for (const auto& name : asked.train)
    names.push_back(std::string(train) + name);
  std::sort(names.begin(), names.end());
  return names;
}

double measure(std::string_view name, const class_predictions& p,
               std::span<const std::string> classes) {
  if (name == "accuracy")
    return accuracy(confusion_of(p));
  if (name == "loss")
    return log_loss(p);
  for (const auto& m : more_of_classes)
    if (m.is.name == name)
      return m.measure(p);
  if (name.starts_with(f1_of)) {
    const auto found = std::ranges::find(classes, name.substr(f1_of.size()));
    if (found != classes.end())
      return f1(confusion_of(p), static_cast<std::size_t>(found - classes.begin()));
  }
  return std::numeric_limits<double>::quiet_NaN();
}

double measure(std::string_view name, const value_predictions& p, double deviation) {
  if (name == "mse")
    return mean_squared_error(p);
  if (name == "rmse")
    return std::sqrt(mean_squared_error(p));
  if (name == "loss")
    return mean_squared_error(p) / (deviation * deviation);
  if (name == "r2")
    return r2(p);
  for (const auto& m : more_of_numbers)
    if (m.is.name == name)
      return m.measure(p);
  return std::numeric_limits<double>::quiet_NaN();
}

} // namespace clade
