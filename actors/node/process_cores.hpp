#pragma once

#include "genome/base/error.hpp"

namespace clade {

/// Lets this thread, and those that it starts from now on, use all cores that the process
/// may use that started this one: a worker gives each node cores of its own, and a
/// training of several slots computes on those of all of them.
[[nodiscard]] expected<void> use_cores_of_parent();

} // namespace clade
