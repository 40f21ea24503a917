#pragma once

#include "engine/search/core/breeding.hpp"

#include <filesystem>

namespace clade {

/// Points that somebody knows to be good: the first new candidates of a search are these,
/// in their order, whatever the strategy. If there are rungs, each begins on the rung on
/// which the candidate would have begun in whose place it comes. One whose network is known
/// by then gives way to a sampled one.
struct known_points {
  /// A file of points (search_spaces/files/points.hpp), until it is read.
  std::filesystem::path file;
  /// Each as `to_toml(known_point)` writes it, so that a resolved experiment holds them.
  std::vector<std::string> points;
};

void keys(own_keys& v, known_points& p);

/// Whether generation 0 has room for all of them.
[[nodiscard]] expected<void> check_known_points(const evolution_params& params);

/// The points of the run, in the order in which they are to be evaluated.
[[nodiscard]] const std::vector<std::string>& points_of(const evolution_params& params);

/// Takes the points out that examples of this shape make too large for the space's limits,
/// and returns a sentence for each of them.
[[nodiscard]] std::vector<std::string>
leave_out_points(evolution_params& params, const search_space& space, const problem& p);

/// Makes the order, which is one for a new candidate, one for that point. Its place and
/// its epochs stay.
void begin_at(breeding& order, const std::string& point);

} // namespace clade
