#pragma once

#include "genome/genes/grammar.hpp"

#include <cstdint>
#include <vector>

namespace clade {

// A grid over parameters: of a range so many points at even steps (of its logarithm where
// that is uniform), both ends among them, or all its whole numbers where these are fewer;
// of a list every value. A parameter that does not apply has no value, so that no two
// points of a grid are equal.

/// The values of a parameter on a grid, which is never empty; a single point of a range is
/// its middle.
[[nodiscard]] std::vector<value> grid_values(const parameter& p,
                                             std::size_t points_per_range);

/// No grid is counted beyond that: one that has as many may have more.
inline constexpr std::size_t most_grid_points = 1'000'000'000;

/// Returns how many points the grid has.
[[nodiscard]] std::size_t count_grid(const std::vector<parameter>& parameters,
                                     std::size_t points_per_range);

/// Returns all points, settings sorted by name, in an order that the seed decides and of
/// which every beginning is spread evenly: of n points in a row each of a parameter's m
/// values has about n / m, so that the first points are those of a Latin hypercube
/// (McKay, Beckman and Conover, Technometrics 21(2), 1979).
[[nodiscard]] std::vector<std::vector<setting>>
grid_points(const std::vector<parameter>& parameters, std::size_t points_per_range,
            std::uint64_t seed);

} // namespace clade
