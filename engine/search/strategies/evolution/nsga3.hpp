#pragma once

#include "engine/search/bases/generations.hpp"
#include "engine/search/core/pareto.hpp"

namespace clade {

/// Points of the plane in which m shares add up to 1, evenly spread: all multiples of
/// 1 / divisions (Das and Dennis, "Normal-boundary intersection", SIAM J. Optimization
/// 8(3), 1998). The most divisions whose points are at most `most`; where so few lie on
/// the plane's rim alone, a second, half as large layer is put inside if it fits
/// (Deb and Jain 2014, section V).
[[nodiscard]] std::vector<objective_point> reference_points(std::size_t objectives,
                                                            std::size_t most);

/// NSGA-III (Deb and Jain, "An evolutionary many-objective optimization algorithm using
/// reference-point-based nondominated sorting approach, part I", and Jain and
/// Deb, part II for constraints; IEEE TEC 18(4), 2014). It is as nsga2, but the front
/// that does not fit whole is filled by niches in the place of distances. Objectives are
/// counted from the best value of each that was ever seen, in units of the intercepts of
/// the plane through the extreme points, those with the least
///
///   max over objectives m of f_m / w_m       (w: 1 along an axis, 1e-6 elsewhere)
///
/// Every candidate belongs to the line from the origin through a reference point that it
/// is nearest to. The line with the fewest survivors is served next: an empty one takes
/// the nearest candidate, another one any. A parent is any survivor; of two where some
/// are infeasible, the one that misses by less.
///
/// When to take it: more than three objectives, where nearly all candidates are in the
/// first front. There are about as many reference points as the population.
class nsga3 final : public generations {
public:
  using generations::generations;

  void close() override;

private:
  void choose_parents(breeding& order) const override;
  [[nodiscard]] std::size_t staying() const override { return params().population; }
  [[nodiscard]] std::size_t surviving() const override { return params().population; }
  [[nodiscard]] std::vector<individual> select() const override;
  /// With what the pool adds to it.
  [[nodiscard]] objective_point ideal(const std::vector<individual>& pool) const;
  [[nodiscard]] std::size_t win(random_stream& random) const;

  objective_point
      ideal_; ///< The best of each objective, of all generations that are closed.
};

} // namespace clade
