#pragma once

#include "engine/search/core/candidate.hpp"

#include <string_view>

namespace clade {

/// Whether the objective asks for a cost that an evaluation has among its metrics.
[[nodiscard]] bool wants_costs(const objective& goal);

/// Adds what a network costs to the metrics of its evaluation, in their order, where the
/// objective asks for it; so that the records of all other runs stay what they are.
void add_cost(evaluation& e, const objective& goal, std::string_view name, double value);

} // namespace clade
