#pragma once

#include "engine/search/core/pareto.hpp"
#include "engine/search/models/fitted/surrogate.hpp"

#include <span>
#include <vector>

namespace clade {

/// By how much a network is expected to raise the hypervolume of a front,
///
///     E [ HV(front + {Y}) - HV(front) ],   Y_m independent, normal by the predictions,
///
/// exactly, for two or three objectives. The space that the front leaves free is cut into
/// boxes that are open above in the second objective; a box from a to b in the first,
/// above h in the second and from c to d in the third adds
///
///     (e(a) - e(b)) e(h) (e(c) - e(d)),   e(x) = E max(Y_m - x, 0)
///
/// which is a sum of products because the objectives are independent (Emmerich, Giannakou
/// and Naujoks, "Single- and multiobjective evolutionary optimization assisted by
/// Gaussian random field metamodels", IEEE TEC 10(4), 2006; boxes as in Yang et al.,
/// "Efficient computation of expected hypervolume improvement using box decomposition
/// algorithms", Journal of Global Optimization 75, 2019). A front of n points has at most
/// n + 1 boxes of two objectives and (n + 1)(n + 2) / 2 of three.
class front_improvement {
public:
  /// Points of two or three objectives, each to be raised; those that do not lie above
  /// the reference in each say nothing.
  front_improvement(const std::vector<objective_point>& front,
                    const objective_point& reference);

  /// The logarithm, of one prediction for each objective. Finite.
  [[nodiscard]] double log_expected(std::span<const prediction> of) const;

private:
  struct box {
    /// Places in `at_`; the last of each is infinity.
    std::size_t from = 0, to = 0, above = 0, low = 0, high = 0;
  };

  void cut_plane(const std::vector<objective_point>& front, std::size_t low,
                 std::size_t high);

  std::vector<std::vector<double>> at_; ///< The ends of boxes in each objective, rising.
  std::vector<box> boxes_;
};

} // namespace clade
