#pragma once

#include "engine/search/core/candidate.hpp"
#include "engine/search/models/fitted/surrogate.hpp"
#include "genome/base/random.hpp"

#include <span>
#include <vector>

namespace clade {

/// How good each is in one objective, as a number between 0 and 1: the share of all that
/// are worse, equal ones sharing the middle of their places. The infeasible are behind
/// all that are feasible, in the order of their violation, and the failed behind those.
/// The same whatever the metric's unit, and untouched by values that are far off.
[[nodiscard]] std::vector<double> shares_of(std::span<const fitness> all,
                                            std::size_t objective);

/// Weights that sum up to 1, drawn evenly from all such.
[[nodiscard]] std::vector<double> draw_weights(std::size_t objectives,
                                               random_stream& random);

/// Several objectives as one, to be raised: Tchebycheff's distance from the best there
/// could be in each,
///
///     t = min over m of  w_m (s_m - 1)
///
/// with s_m the shares. Whatever the shape of the front, each of its points is the best
/// for some weights.
[[nodiscard]] double tchebycheff(std::span<const double> shares,
                                 std::span<const double> weights);

/// By how much a network is expected to improve on the best t that is known. A model of
/// each objective predicts its normal score Z_m, independently of the others; with q the
/// quantile of the normal distribution, in the units of the model's scores,
///
///     E max(t - best, 0) = integral from best to 0 of  product over m of
///                              P(Z_m > q(1 + t / w_m))  dt
///
/// by the midpoint rule. (Knowles, "ParEGO", IEEE TEC 10(1), 2006, has one model of t;
/// one of each objective is qParEGO's: Daulton, Balandat and Bakshy, NeurIPS 2020.)
class tchebycheff_improvement {
public:
  /// Makes it for the best there is, `shares`; `units` are those of each model's scores:
  /// the score of a share s is q(s) / unit.
  tchebycheff_improvement(double best, std::span<const double> weights,
                          std::span<const double> units);

  /// The logarithm, of a prediction for each objective. Finite.
  [[nodiscard]] double log_expected(std::span<const prediction> of) const;

private:
  static constexpr std::size_t steps = 12;

  double step_ = 0;
  /// The score that each objective must exceed, for each step.
  std::vector<std::vector<double>> needed_;
};

} // namespace clade
