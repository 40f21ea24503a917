#pragma once

#include "engine/search/bases/model_guided.hpp"
#include "engine/search/models/fitted/rung_models.hpp"

#include <set>

namespace clade {

/// Evolution with a model over several fidelities, in a steady state (Klein, Tiao,
/// Lienart, Archambeau and Seeger, "Model-based Asynchronous Hyperparameter and Neural
/// Architecture Search", arXiv 2003.10865, 2020: asynchronous halving whose newcomers a
/// model chooses). A Gaussian process on each rung follows the one below it
/// (rung_models.hpp); so the many short trainings and the few long ones are one model of
/// fitness on the highest rung.
///
///   new        begins on the lowest rung: the first few are sampled, each later one is
///              the child of the best, by mutation and crossover, of which the greatest
///              improvement on the highest rung is expected (screening.hpp)
///   promotion  of those on a rung that did not fail and were not promoted, the one of
///              which that is expected goes on to the next, whatever its rank; what was
///              measured of it is in the model. A rung that misleads has little say
///
/// Among those that are trained to rung r, the share
///
///     sqrt(epochs_r / epochs_r+1)
///
/// goes on, the highest rung that lacks one first: the number of samples of a level goes
/// with the inverse root of what one costs (Giles, "Multilevel Monte Carlo path
/// simulation", Operations Research 56(3), 2008), where successive halving takes the
/// inverse itself. A model needs fewer short trainings than a rank does, and what they
/// say of good networks is soon less than what a longer one says. So no `reduction` is
/// read but for where rungs lie: of rungs of 12 and 200 epochs one of four goes on, of 1,
/// 3 and 9 every second.
///
/// Several objectives are one for each order, by weights that are drawn (scalarisation.hpp),
/// and only who is dominated by nobody that waits on its rung is promoted.
///
/// To be taken when there are few rungs, a full training is dear, and the first epochs
/// tell something but not all: where they tell nothing it costs as many times more as
/// there are rungs. A new candidate costs a generator some ten milliseconds for each
/// rung, and a promotion the search a few.
///
/// Measured on NAS-Bench-201 (mean regret after the epochs of so many full trainings with
/// 95 % interval, CIFAR-10 / CIFAR-100 / ImageNet16-120, 100 seeds):
///
///     asha, 33                   .20+-.05  .56+-.13  1.11+-.13
///     multi_fidelity, 34         .06+-.03  .43+-.12   .94+-.10
///     asha, 50                   .10       .34        .90
///     multi_fidelity, 50         .06+-.03  .29+-.06   .85+-.07
///     surrogate, 100, no rungs   .07       .27        .83
///     the whole table            .05       .27        .92
///
/// Regret is the truth of the best that was validated, by one of three seeds, so that
/// chance alone leaves the last row to whoever looks at everything. Learnt length scales
/// for promotions (two members, 40 steps) change nothing beyond chance: .06 .46 .93 after
/// 34, where one of five goes on.
///
/// On TaskSet's learning curves, with rungs of 2, 6, 17 and 51 checkpoints, it was asha's
/// equal when as much was spent on each rung as on the one below (mean rank 1.52+-.14 of
/// two, 48 searches; with the root of three times as much 1.56+-.14).
class multi_fidelity final : public model_guided {
public:
  multi_fidelity(const evolution_params& params, std::uint64_t seed,
                 std::shared_ptr<const search_space> space);

  [[nodiscard]] std::vector<individual> population() const override;

  /// How many results of each rung it remembers.
  static constexpr std::size_t most_known = 2 * surrogate_params{}.examples;

private:
  void thin(std::vector<individual>& known) const override;
  void choose(breeding& order) override;
  [[nodiscard]] std::size_t rung_of(std::uint32_t epochs) const;
  [[nodiscard]] std::vector<individual>
  parents(const std::vector<individual>& known) const;
  [[nodiscard]] bool promote(breeding& order, const std::vector<individual>& known);
  [[nodiscard]] const individual*
  most_promising(const std::vector<const individual*>& waiting,
                 const std::vector<individual>& known, candidate_id order) const;

  std::shared_ptr<const search_space> space_;
  std::vector<std::uint32_t> rungs_;
  std::vector<double> ordered_on_; ///< How many trainings to each rung.
  /// The candidates whose trainings were ordered to go on, of those that are remembered.
  std::set<candidate_id> promoted_;
};

} // namespace clade
