#pragma once

#include "engine/search/bases/generations.hpp"
#include "engine/search/models/base/gaussian.hpp"

namespace clade {

/// CMA-ES, the evolution strategy with an adapted covariance matrix (Hansen, "The CMA
/// Evolution Strategy: A Tutorial", arXiv 1604.00772, 2016), over the hyperparameters
/// that vary, in the unit cube of their domains (genome/genes/unit_cube.hpp):
///
///   x(k) ~ N(m, sigma^2 C), k = 1 .. lambda = `population`
///   m moves to the weighted mean of the better half; C grows along the steps that were
///   good; sigma grows while steps go on in one direction and shrinks where they turn
///   back
///
/// (gaussian.hpp has the formulas.) Generation 0 is sampled evenly, and is what the first
/// step is taken from. A coordinate that leaves the cube is mirrored at its wall. Whole
/// numbers and ordered lists are steps of the cube: no deviation falls below a quarter of
/// such a step, so that neighbours are always tried (after Hansen, "A CMA-ES for
/// mixed-integer nonlinear optimization", 2011). A distribution that has become as narrow
/// as that, or has found nothing better for 10 + 30 n / lambda of its generations, is
/// begun again elsewhere with twice the population (IPOP: Auger and Hansen, CEC 2005),
/// which is taken over two generations of the run, then four, at most eight.
///
/// Take it for 2 to 40 real or whole hyperparameters that depend on one another, with
/// some hundred evaluations or more; it does not mind scales and rotations. With few
/// evaluations take "surrogate"; with choices that have no order,
/// "differential_evolution". It has no way to change layers. Its candidates have no
/// parents, for they come of all before them.
class cma_es final : public generations {
public:
  cma_es(const evolution_params& params, std::uint64_t seed,
         std::shared_ptr<const search_space> space);

  /// The space needs hyperparameters that vary, all of them ordered, and no layers.
  [[nodiscard]] static expected<void> serves(const search_space& space);
  [[nodiscard]] static expected<void> validate(const evolution_params& params);

  void close() override;

  /// How often it has begun again.
  [[nodiscard]] std::uint64_t restarts() const { return restarts_; }
  [[nodiscard]] const gaussian& distribution() const { return distribution_; }

private:
  struct told {
    individual who; ///< Without its genome.
    std::vector<double> point;
  };

  void choose_parents(breeding& order) const override;
  [[nodiscard]] std::size_t staying() const override { return params().population; }
  [[nodiscard]] std::size_t surviving() const override { return params().population; }

  [[nodiscard]] std::vector<double> point_of(const genome& g) const;
  [[nodiscard]] std::vector<double> least_deviations() const;
  void follow(std::uint64_t closed);
  void propose();

  std::shared_ptr<const search_space> space_;
  /// The coordinates among the space's hyperparameters.
  std::vector<std::size_t> coordinates_;
  gaussian distribution_;
  std::shared_ptr<const clade::proposal> proposal_;
  std::vector<told> told_; ///< Since the last step.
  std::uint64_t restarts_ = 0, waited_ = 0;
  /// Since it was begun: the best, and how many steps ago it was found.
  std::optional<individual> best_;
  std::uint64_t steps_without_better_ = 0;
};

} // namespace clade
