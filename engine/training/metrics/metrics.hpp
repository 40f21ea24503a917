#pragma once

#include "engine/data/reading/data_set.hpp"
#include "engine/search/core/candidate.hpp"
#include "engine/training/metrics/class_metrics.hpp"
#include "engine/training/metrics/several_metrics.hpp"
#include "engine/training/metrics/value_metrics.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

// The metrics that training measures on a part of the data. A metric of an evaluation has
// the part's name before it: "validation.accuracy". A few are measured at the end of
// every epoch; the others there only where the objective or `training.metrics` asks for
// them, and at the test of the champion.

struct part_metric {
  std::string_view name;
  bool maximize = false; ///< More is better.
};

/// The metrics that every epoch has. The first is what such a task is usually judged by.
[[nodiscard]] std::vector<part_metric> part_metrics(const learning_task& task);

/// All metrics of such a task, but for those of single classes, labels and targets.
[[nodiscard]] std::vector<part_metric> all_part_metrics(const learning_task& task);

/// The metric of that name; "log_loss" is another name for the "loss" of classes or labels,
/// and "f1.CLASS" is there for any class, as are "f1.LABEL" and "auc.LABEL" for any label and
/// "pinball.QUANTILE" for any quantile ("pinball.q0.9").
/// None: there is no such metric.
[[nodiscard]] std::optional<part_metric> find_part_metric(const learning_task& task,
                                                          std::string_view name);

/// Whether a metric of numbers is in shares of their sizes.
[[nodiscard]] bool is_of_shares(std::string_view name);

/// "accuracy, loss (log_loss), auc, ..., f1.CLASS": for messages; each after `prefix`.
[[nodiscard]] std::string part_metric_list(const learning_task& task,
                                           std::string_view prefix);

/// The metrics that a training records beside `part_metrics`, without the parts' names,
/// sorted.
struct asked_metrics {
  std::vector<std::string> validation, train;
};

/// Returns the metrics that `goal` and `named` (`training.metrics`) ask for. Names that
/// are no metric of a part are passed over; `check_metric_names` finds them.
[[nodiscard]] asked_metrics asked_for(const learning_task& task, const objective& goal,
                                      std::span<const std::string> named);

/// Says which of `training.metrics` such a task does not have.
[[nodiscard]] expected<void> check_metric_names(const learning_task& task,
                                                std::span<const std::string> named);

/// Says which "f1.CLASS" of `asked` names no class, or no label, of the data.
[[nodiscard]] expected<void> check_classes(const asked_metrics& asked,
                                           std::span<const std::string> classes);

/// The metrics that an epoch of such a task has, sorted: those of the validation part,
/// train.loss, and what is asked for.
[[nodiscard]] std::vector<std::string> epoch_metrics(const learning_task& task,
                                                     const asked_metrics& asked = {});

/// The metric of that name (of `all_part_metrics`, or "f1.CLASS") of predictions; NaN
/// where there is no such metric or class. A metric of several targets is the mean of those
/// of each, which is "rmse.TARGET" alone.
[[nodiscard]] double measure(const learning_task& task, std::string_view name,
                             const class_predictions& p);
[[nodiscard]] double measure(const learning_task& task, std::string_view name,
                             const value_predictions& p);
[[nodiscard]] double measure(const learning_task& task, std::string_view name,
                             const several_predictions& p);

/// The metrics by which a test tells of each target alone: "rmse" and "r2", of a label "f1"
/// and "auc", and of a quantile "pinball" and "below", the share of values that are.
[[nodiscard]] std::span<const std::string_view>
metrics_of_each(const learning_task& task);

} // namespace clade
