#pragma once

#include "search_spaces/operators/variation.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// A candidate that somebody knows to be good, or a part of one: what it does not say is
/// drawn.
struct known_point {
  std::string name;
  std::optional<genome> network{}; ///< Layers alone.
  std::vector<setting> hyperparameters{};
};

/// Reads a file of points for that space, in the order of the file (its form stands at
/// the top of points.cpp). An unknown key, a value out of range and a layer that the space
/// does not have are refused: "file:line: ...".
[[nodiscard]] expected<std::vector<known_point>>
load_points(const std::filesystem::path& file, const search_space& space);

/// A point as a text of its own, in the form of the file.
[[nodiscard]] std::string to_toml(const known_point& point);

/// Reads such texts; `origin` names them in messages.
[[nodiscard]] expected<std::vector<known_point>>
parse_points(std::string_view text, std::string_view origin, const search_space& space);

/// Says what is wrong where the point's network, drawn as far as it does not say it, is none
/// of the space or breaks its limits on the problem.
[[nodiscard]] expected<void> check_fits(const known_point& point,
                                        const search_space& space, const problem& p);

/// Returns what of a genome, which may be of another space, this one has: its network, if
/// its operators are there and it fits the problem, and its hyperparameters; settings that
/// the space does not have are left to be drawn. The error says why there is nothing.
[[nodiscard]] expected<known_point> fitted_point(std::string name, const genome& g,
                                                 const search_space& space,
                                                 const problem& p);

/// Returns a genome of the space that has all that the point says. Fails where the space
/// has no network that can be drawn.
[[nodiscard]] expected<genome> genome_of(const known_point& point,
                                         const search_space& space, const problem& p,
                                         random_stream& random);

} // namespace clade
