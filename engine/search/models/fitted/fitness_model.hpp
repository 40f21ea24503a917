#pragma once

#include "engine/search/core/candidate.hpp"
#include "engine/search/models/fitted/front_improvement.hpp"
#include "engine/search/models/fitted/scalarisation.hpp"
#include "engine/search/models/fitted/surrogate.hpp"

#include <optional>
#include <span>
#include <vector>

namespace clade {

/// The measurements of a network.
struct known_fitness {
  std::vector<double> features; ///< genome_features::encode
  clade::fitness fitness;
};

/// The model that screening asks how much a genome promises, by models of all that was
/// measured (surrogate.hpp).
///
///     one objective    a model; the logarithm of the expected improvement
///     two or three     a model of each; the logarithm of the expected improvement of the
///                      front's hypervolume (front_improvement.hpp)
///     more             a model of each; the logarithm of the expected improvement of all
///                      as one, with weights drawn anew for each candidate
///                      (scalarisation.hpp), as boxes grow with the front's size to the
///                      power of the objectives
///
/// A model of each learns what each depends on, such as parameters on widths alone; time
/// goes in proportion to the objectives. The front is that of normal scores, measured
/// from the worst that is known in each: so a metric's unit does not matter, nor whether
/// it is a loss or its logarithm.
///
/// Equals in the one objective differ by what fitness goes by next, the lower loss: of
/// small data sets many networks have the same accuracy.
///
/// Constraints come first: the infeasible are taken for worse than all that is feasible,
/// in each objective, by how much they miss; the failed for the worst.
///
/// It rests on these measurements, made on five tables by accuracy or loss and parameters
/// (hypervolume regret after 100 evaluations in thousandths; NAS-Bench-201 on CIFAR-10,
/// CIFAR-100 and ImageNet16-120, FCNet on naval propulsion and protein structure):
///
///     NSGA-II                                   64   86   69   36   44   24 seeds
///     expected hypervolume                      65   75   67    9   20   24 seeds
///     the same, of shares for normal scores     95  106  109   11   43    6 seeds
///     one model of all as one (ParEGO)          76   73   84    2   12    6 seeds
///     models of each, then all as one           92  101   90    8   13    6 seeds
///
/// With 6 seeds a third either way is chance. By training seconds in place of
/// parameters (6 seeds; these, and HPOBench's three) expected hypervolume is ahead of
/// NSGA-II on all eight: 46 30 37 1 11 34 26 44 to 65 83 91 26 30 52 50 77.
class fitness_model {
public:
  /// At least one, in the order in which they were heard, and with equally many
  /// objectives where they did not fail. `earlier` (earlier_results.hpp) counts where there
  /// is one objective, and may be empty.
  [[nodiscard]] static fitness_model fit(std::vector<known_fitness> known,
                                         const std::vector<feature_block>& blocks,
                                         std::uint64_t seed, random_stream& random,
                                         std::span<const example> earlier = {});

  /// Takes it for measured, as the models expect it (surrogate::believe).
  void believe(std::span<const double> features);

  /// Greater is better, of one model; to be called once all in training are believed.
  [[nodiscard]] double promise(std::span<const double> features) const;

private:
  void find_front(const std::vector<known_fitness>& known);
  void cut();
  void weigh(const std::vector<known_fitness>& known,
             const std::vector<std::vector<double>>& shares,
             std::span<const double> weights);

  std::vector<surrogate> models_;
  std::optional<surrogate> earlier_; ///< The trend of the one model.
  /// The front of two or three objectives; results that are believed are of it too.
  std::vector<objective_point> front_;
  objective_point reference_;
  std::optional<front_improvement> of_front_;
  /// The improvement for more objectives.
  std::optional<tchebycheff_improvement> of_all_;
};

} // namespace clade
