#pragma once

#include "engine/search/core/pareto.hpp"
#include "tests/support/simulation.hpp"

namespace clade {

/// Functions of real hyperparameters x0, x1, ... in [0, 1] with several values, all to be
/// lowered, as metrics f0, f1, ...: genomes without a layer, bred as a run's are.
struct pareto_problem {
  std::size_t variables = 10;
  std::size_t objectives = 2;
  std::function<objective_point(const std::vector<double>&)> values;

  /// Runs that strategy, with `population` x `generations` candidates.
  [[nodiscard]] simulation run(const std::string& strategy, std::uint64_t seed,
                               std::size_t population, std::size_t generations) const;
};

/// Zitzler, Deb and Thiele, "Comparison of multiobjective evolutionary algorithms", 2000:
/// its front is f1 = 1 - sqrt(f0).
[[nodiscard]] pareto_problem zdt1();

/// Deb, Thiele, Laumanns and Zitzler, "Scalable test problems", 2005: its front is the
/// part of the unit sphere where all are positive.
[[nodiscard]] pareto_problem dtlz2(std::size_t objectives);

/// Returns the hypervolume of all that succeeded, as the run recorded them, measured from
/// `worst` in each.
[[nodiscard]] double hypervolume_of(const simulated& run, std::size_t objectives,
                                    double worst);

} // namespace clade
