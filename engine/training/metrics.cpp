#include "engine/training/metrics.hpp"

#include <algorithm>

namespace clade {
namespace {

constexpr part_metric of_classes[] = {{"accuracy", true}, {"loss", false}};
constexpr part_metric of_numbers[] = {
    {"rmse", false}, {"mse", false}, {"r2", true}, {"loss", false}};

} // namespace

std::span<const part_metric> part_metrics(task_kind task) {
  return task == task_kind::classification ? std::span<const part_metric>(of_classes)
                                           : of_numbers;
}

std::vector<std::string> epoch_metrics(task_kind task) {
  std::vector<std::string> names{"train.loss"};
  for (const part_metric& m : part_metrics(task))
    names.push_back("validation." + std::string(m.name));
  std::sort(names.begin(), names.end());
  return names;
}

} // namespace clade
