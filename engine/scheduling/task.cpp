#include "engine/scheduling/task.hpp"

namespace clade {

std::string to_text(const task_id& id) {
  const auto whose = "#" + std::to_string(id.candidate);
  if (id.type == task_type::train)
    return whose;
  return "the test of " + (id.candidate == 0 ? "the linear model" : whose);
}

} // namespace clade
