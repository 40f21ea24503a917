#pragma once

#include "engine/run/records/test_details.hpp"

#include <span>
#include <string>

namespace clade {

/// Returns the mean of what was measured several times, at least twice and at most ten
/// times, and its 95 % interval by Student's t.
[[nodiscard]] column_importance mean_importance(std::string column,
                                                std::span<const double> worse);

} // namespace clade
