#include "engine/training/metrics/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace clade {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

template<double (*of)(const confusion_counts&)>
double of_confusion(const class_predictions& p) {
  return of(confusion_of(p));
}

template<std::size_t k>
double of_top(const class_predictions& p) {
  return top(p, k);
}

double root_mean_squared_error(const value_predictions& p) {
  return std::sqrt(mean_squared_error(p));
}

/// The loss that the task's training lowers, without smoothing and class weights.
double mean_loss(const learning_task& task, const class_predictions& p) {
  return task.loss == loss_kind::cross_entropy ? log_loss(p) : none;
}

/// The same, of standardised numbers.
double mean_loss(const learning_task& task, const value_predictions& p) {
  return task.loss == loss_kind::squared_error
             ? mean_squared_error(p) / (p.deviation * p.deviation)
             : none;
}

/// A metric besides the task's loss.
template<class Predictions>
struct measured_metric {
  part_metric is;
  double (*measure)(const Predictions&);
};

/// "f1.CLASS" stands beside them.
constexpr measured_metric<class_predictions> of_classes[] = {
    {{"accuracy", true}, of_confusion<accuracy>},
    {{"balanced_accuracy", true}, of_confusion<balanced_accuracy>},
    {{"auc", true}, auc},
    {{"f1_macro", true}, of_confusion<f1_macro>},
    {{"matthews", true}, of_confusion<matthews>},
    {{"top_3", true}, of_top<3>},
    {{"top_5", true}, of_top<5>}};

constexpr measured_metric<value_predictions> of_numbers[] = {
    {{"rmse", false}, root_mean_squared_error},
    {{"mse", false}, mean_squared_error},
    {{"r2", true}, r2},
    {{"mae", false}, mean_absolute_error},
    {{"mape", false}, mean_absolute_percentage_error},
    {{"smape", false}, symmetric_percentage_error}};

constexpr measured_metric<several_predictions> of_labels[] = {
    {{"f1_micro", true}, f1_micro},
    {{"f1_macro", true}, f1_of_labels},
    {{"accuracy", true}, label_accuracy},
    {{"auc", true}, auc_of_labels},
    {{"exact_match", true}, exact_match}};

constexpr measured_metric<several_predictions> of_quantiles[] = {
    {{"pinball", false}, pinball}};

/// A metric of a single label or quantile: "f1.LABEL".
struct output_metric {
  part_metric is;
  double (*measure)(const several_predictions&, std::size_t);
};
constexpr output_metric of_each_label[] = {{{"f1", true}, f1_of_label},
                                           {{"auc", true}, auc_of_label}};
constexpr output_metric of_each_quantile[] = {{{"pinball", false}, pinball_of}};

constexpr part_metric loss_metric{"loss", false};
constexpr std::string_view f1_of = "f1.";
constexpr std::string_view validation = "validation.", train = "train.";

bool every_epoch_has(const learning_task& task, std::string_view name) {
  return std::ranges::find(task.metrics, name) != task.metrics.end();
}

std::string_view name_of(const output_metric& row) {
  return row.is.name;
}
template<class Predictions>
std::string_view name_of(const measured_metric<Predictions>& row) {
  return row.is.name;
}

template<class Rows>
const auto* row_of(const Rows& rows, std::string_view name) {
  const auto found =
      std::ranges::find(rows, name, [](const auto& row) { return name_of(row); });
  return found == std::end(rows) ? nullptr : found;
}

/// Calls it with the metrics of such a task.
template<class Use>
auto with_rows(const learning_task& task, Use use) {
  return task.has_classes()     ? use(of_classes)
         : task.has_labels()    ? use(of_labels)
         : task.has_quantiles() ? use(of_quantiles)
                                : use(of_numbers);
}

/// Returns the row of "f1.LABEL" or "pinball.QUANTILE"; null where there is none.
const output_metric* row_of_each(const learning_task& task, std::string_view name) {
  const auto bare = name.substr(0, name.find('.'));
  return task.has_labels() ? row_of(of_each_label, bare) : row_of(of_each_quantile, bare);
}

/// Returns CLASS of "f1.CLASS"; nothing of another name.
std::string_view target_of(std::string_view name) {
  const auto dot = name.find('.');
  return dot == std::string_view::npos ? std::string_view() : name.substr(dot + 1);
}

void add(std::vector<std::string>& to, std::string_view name) {
  const auto place = std::ranges::lower_bound(to, name);
  if (place == to.end() || *place != name)
    to.emplace(place, name);
}

/// Adds the metrics of the part that the name begins with.
void add_asked(const learning_task& task, std::string_view name, asked_metrics& to) {
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
        target_of(name).empty() ? found->name : name);
}

} // namespace

std::vector<part_metric> part_metrics(const learning_task& task) {
  std::vector<part_metric> usual;
  for (const auto name : task.metrics)
    usual.push_back(find_part_metric(task, name).value());
  return usual;
}

std::vector<part_metric> all_part_metrics(const learning_task& task) {
  auto all = part_metrics(task);
  const auto add_others = [&](const auto& rows) {
    for (const auto& row : rows)
      if (!every_epoch_has(task, row.is.name))
        all.push_back(row.is);
  };
  with_rows(task, add_others);
  return all;
}

std::optional<part_metric> find_part_metric(const learning_task& task,
                                            std::string_view name) {
  const bool classes = task.has_classes(), labels = task.has_labels();
  if ((classes || labels) && name == "log_loss")
    name = "loss";
  if (classes && name.starts_with(f1_of) && name.size() > f1_of.size())
    return part_metric{name, true};
  if ((labels || task.has_quantiles()) && !target_of(name).empty()) {
    const auto* row = row_of_each(task, name);
    return row == nullptr ? std::nullopt
                          : std::optional(part_metric{name, row->is.maximize});
  }
  if (name == loss_metric.name)
    return loss_metric;
  const auto found = [&](const auto& rows) -> std::optional<part_metric> {
    const auto* row = row_of(rows, name);
    return row == nullptr ? std::nullopt : std::optional(row->is);
  };
  return with_rows(task, found);
}

bool is_of_shares(std::string_view name) {
  return name == "mape" || name == "smape";
}

std::string part_metric_list(const learning_task& task, std::string_view prefix) {
  std::string list;
  for (const auto& m : all_part_metrics(task))
    (list += list.empty() ? "" : ", ") += std::string(prefix) + std::string(m.name);
  return task.has_classes()     ? fmt::format("{}, {}{}CLASS", list, prefix, f1_of)
         : task.has_labels()    ? fmt::format("{}, {}{}LABEL", list, prefix, f1_of)
         : task.has_quantiles() ? fmt::format("{}, {}pinball.QUANTILE", list, prefix)
                                : list;
}

asked_metrics asked_for(const learning_task& task, const objective& goal,
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

expected<void> check_metric_names(const learning_task& task,
                                  std::span<const std::string> named) {
  for (const auto& name : named) {
    std::string_view bare = name;
    for (const auto part : {validation, train})
      if (bare.starts_with(part))
        bare.remove_prefix(part.size());
    if (!find_part_metric(task, bare))
      return fail(error_kind::invalid_input,
                  fmt::format("metrics: {} has no metric \"{}\"; it has {}", task.name,
                              name, part_metric_list(task, "")));
  }
  return {};
}

expected<void> check_classes(const asked_metrics& asked,
                             std::span<const std::string> classes) {
  for (const auto* names : {&asked.validation, &asked.train})
    for (const auto& name : *names)
      if (const auto target = target_of(name);
          !target.empty() && std::ranges::find(classes, target) == classes.end()) {
        std::string known;
        for (const auto& c :
             classes.subspan(0, std::min<std::size_t>(20, classes.size())))
          known += (known.empty() ? "" : ", ") + name.substr(0, name.find('.') + 1) + c;
        return fail(
            error_kind::invalid_input,
            fmt::format("the metric \"{}\" names no class of the data; there are {}{}",
                        name, known, classes.size() > 20 ? ", ..." : ""));
      }
  return {};
}

std::vector<std::string> epoch_metrics(const learning_task& task,
                                       const asked_metrics& asked) {
  std::vector<std::string> names{"train.loss"};
  for (const auto name : task.metrics)
    names.push_back(std::string(validation) + std::string(name));
  for (const auto& name : asked.validation)
    names.push_back(std::string(validation) + name);
  for (const auto& name : asked.train)
    names.push_back(std::string(train) + name);
  std::sort(names.begin(), names.end());
  return names;
}

double measure(const learning_task& task, std::string_view name,
               const class_predictions& p) {
  if (name == loss_metric.name)
    return mean_loss(task, p);
  if (const auto* row = row_of(of_classes, name))
    return row->measure(p);
  if (name.starts_with(f1_of)) {
    const auto found = std::ranges::find(p.names, name.substr(f1_of.size()));
    if (found != p.names.end())
      return f1(confusion_of(p), static_cast<std::size_t>(found - p.names.begin()));
  }
  return none;
}

double measure(const learning_task& task, std::string_view name,
               const value_predictions& p) {
  if (name == loss_metric.name)
    return mean_loss(task, p);
  const auto* row = row_of(of_numbers, name);
  return row == nullptr ? none : row->measure(p);
}

namespace {

/// The metric of one label or quantile.
double measure_output(const learning_task& task, std::string_view name,
                      const several_predictions& p) {
  const auto output = std::ranges::find(p.names, target_of(name));
  if (output == p.names.end())
    return none;
  const auto at = static_cast<std::size_t>(output - p.names.begin());
  if (task.has_quantiles() && name.starts_with("below."))
    return share_below(p, at);
  const auto* row = row_of_each(task, name);
  return row == nullptr ? none : row->measure(p, at);
}

/// The metric of all labels or quantiles, or of one.
double measure_outputs(const learning_task& task, std::string_view name,
                       const several_predictions& p) {
  const bool labels = task.has_labels();
  if (name == loss_metric.name)
    return labels ? label_loss(p) : pinball(p) / scale_of(p.scales, 0).deviation;
  const auto* row = labels ? row_of(of_labels, name) : row_of(of_quantiles, name);
  return row == nullptr ? measure_output(task, name, p) : row->measure(p);
}

double measure_column(const learning_task& task, std::string_view name,
                      const several_predictions& p, std::size_t target) {
  const auto column = column_of(p, target);
  return measure(task, name,
                 value_predictions{column.actual, column.predicted,
                                   scale_of(p.scales, target).deviation});
}

} // namespace

double measure(const learning_task& task, std::string_view name,
               const several_predictions& p) {
  if (task.has_labels() || task.has_quantiles())
    return measure_outputs(task, name, p);
  if (const auto of = target_of(name); !of.empty()) {
    const auto target = std::ranges::find(p.names, of);
    return target == p.names.end()
               ? none
               : measure_column(task, name.substr(0, name.find('.')), p,
                                static_cast<std::size_t>(target - p.names.begin()));
  }
  double sum = 0;
  for (std::size_t target = 0; target < p.targets; ++target)
    sum += measure_column(task, name, p, target);
  return sum / static_cast<double>(p.targets);
}

std::span<const std::string_view> metrics_of_each(const learning_task& task) {
  static constexpr std::array<std::string_view, 2> numbers{"r2", "rmse"},
      labels{"auc", "f1"}, of_quantiles{"below", "pinball"};
  return task.has_labels() ? labels : task.has_quantiles() ? of_quantiles : numbers;
}

} // namespace clade
