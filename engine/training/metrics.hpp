#pragma once

#include "engine/data/data_set.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// What training measures on a part of the data; with the part's name before it
/// ("validation.accuracy") it is a metric of an evaluation.
struct part_metric {
  std::string_view name;
  bool maximize = false; ///< More is better.
};

/// Of such a task. The first is what it is usually judged by.
[[nodiscard]] std::span<const part_metric> part_metrics(task_kind task);

/// The metrics that an epoch of such a task has, sorted: those of the validation part,
/// and train.loss.
[[nodiscard]] std::vector<std::string> epoch_metrics(task_kind task);

} // namespace clade
