#pragma once

#include "engine/search/models/fitted/surrogate.hpp"

#include <span>
#include <vector>

namespace clade {

/// A model of fitness at several fidelities: on each rung a Gaussian process
/// (surrogate.hpp) whose mean follows what the rung below expects,
///
///     f_0(x) = mean_0                            + d_0(x)
///     f_r(x) = mean_r + slope_r (f_r-1(x) - c_r) + d_r(x)
///
/// with d_r a process of its own, c_r the mean of f_r-1 over what was trained to rung r,
/// and mean_r and slope_r from the data under normal priors around 0 and 1 (Kennedy and
/// O'Hagan, "Predicting the output from a complex computer code when fast approximations
/// are available", Biometrika 87, 2000; fitted rung by rung as by Le Gratiet and Garnier,
/// 2014, which is exact where whatever is on a rung was on the one below). The spread of
/// f_r-1 enters that of f_r times the slope. A rung that misleads gets a slope near 0,
/// and what is above is predicted as if it were not there.
class rung_models {
public:
  /// The examples of each rung, the lowest first. A rung on which fewer than
  /// `fewest_examples` succeeded says nothing.
  [[nodiscard]] static rung_models fit(const std::vector<std::vector<example>>& by_rung,
                                       const std::vector<feature_block>& blocks,
                                       std::uint64_t seed, surrogate_params params = {});

  static constexpr std::size_t fewest_examples = 3;

  /// Whether there is a rung with enough examples. Nothing else may be called else.
  [[nodiscard]] bool empty() const { return levels_.empty(); }
  /// The highest rung with a model: what is predicted is fitness there.
  [[nodiscard]] std::size_t highest() const { return levels_.back().rung; }

  [[nodiscard]] prediction predict(std::span<const double> features) const;
  /// The best score on that rung.
  [[nodiscard]] double best() const { return levels_.back().model.best(); }

  /// Takes for measured what is predicted of a genome up to that rung.
  void believe(std::span<const double> features, std::size_t rung);

private:
  struct level {
    std::size_t rung = 0;
    surrogate model;
  };
  std::vector<level> levels_;
};

} // namespace clade
