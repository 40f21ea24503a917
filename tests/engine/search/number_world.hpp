#pragma once

#include "tests/support/simulation.hpp"

#include <functional>

namespace clade {

/// A world of hyperparameters alone: accuracy is a function of their point in the unit
/// cube.
struct number_world {
  std::vector<parameter> parameters;
  std::function<double(const std::vector<double>& point)> accuracy;

  [[nodiscard]] search_space space() const;
  [[nodiscard]] simulation run(const evolution_params& params, std::uint64_t seed) const;
  /// The accuracy of the best of a whole run.
  [[nodiscard]] double best_of(const evolution_params& params, std::uint64_t seed) const;
};

/// `count` reals from -5 to 5.
[[nodiscard]] std::vector<parameter> reals(std::size_t count);

} // namespace clade
