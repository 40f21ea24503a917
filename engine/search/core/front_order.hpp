#pragma once

#include "engine/search/core/candidate.hpp"

#include <span>
#include <vector>

namespace clade {

/// Indices, the best first, as NSGA-II sorts: by front, constraints first (pareto.hpp),
/// and within a front the lonelier first, by crowding distance; ties by index.
[[nodiscard]] std::vector<std::size_t> order_by_front(std::span<const fitness> all);

/// Whether there are several objectives.
[[nodiscard]] bool weighs_several(const std::vector<individual>& all);

/// The best first: by fitness, or where there are several objectives by front.
void sort_by_worth(std::vector<individual>& all);

} // namespace clade
