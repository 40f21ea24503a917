#include "engine/scheduling/task.hpp"

#include "genome/base/text.hpp"

namespace clade {

std::string to_text(const task_id& id) {
  const auto whose = numbered(id.candidate);
  if (id.type == task_type::train)
    return whose;
  if (id.type == task_type::compose)
    return "the final model";
  return "the test of " + (id.candidate == 0 ? "the linear model" : whose);
}

} // namespace clade
