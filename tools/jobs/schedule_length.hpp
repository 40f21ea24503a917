#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace clade {

/// Returns how long jobs of these seconds take on so many slots, each beginning on the
/// first slot that is free, in the order given.
[[nodiscard]] double schedule_length(std::span<const double> seconds, std::size_t slots);

/// Returns what no schedule of these jobs on so many slots is shorter than: the longest
/// job, or an even share of all.
[[nodiscard]] double shortest_schedule(std::span<const double> seconds,
                                       std::size_t slots);

} // namespace clade
