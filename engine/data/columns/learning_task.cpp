#include "engine/data/columns/learning_task.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clade {

std::string quantile_name(double quantile) {
  return fmt::format("q{}", quantile);
}

const learning_task* find_learning_task(std::string_view name) {
  const auto found = std::ranges::find(learning_tasks, name, &learning_task::name);
  return found == learning_tasks.end() ? nullptr : &*found;
}

std::size_t place_of(const learning_task& task) {
  return static_cast<std::size_t>(std::ranges::find(learning_tasks, task)
                                  - learning_tasks.begin());
}

} // namespace clade
