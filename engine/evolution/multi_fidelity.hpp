#pragma once

#include "engine/evolution/model_guided.hpp"
#include "engine/evolution/rung_models.hpp"

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
/// Whether the next order is a promotion is decided by epochs: each rung is to cost what
/// the one below it costs (as in successive halving, whose share that goes on is the
/// ratio of the rungs' epochs), and the highest rung for which another training is paid
/// comes first. So no `reduction` is read but for where rungs lie: with rungs of 12 and
/// 200 epochs one of about 16 goes on, with 1, 3 and 9 one of two or three.
///
/// To be taken when there are few rungs, a full training is dear, and the first epochs
/// tell something but not all: where they tell nothing it costs as many times more as
/// there are rungs. A new candidate costs a generator some ten milliseconds for each
/// rung, and a promotion the search a few.
///
/// Measured on NAS-Bench-201 (mean regret after epochs worth 33 full trainings with 95 %
/// interval, CIFAR-10 / CIFAR-100 / ImageNet16-120; 100 seeds of asha, 8 of this one):
///
///     asha                       .20+-.05  .56+-.13  1.11+-.13
///     multi_fidelity             .09+-.13  .55+-.37   .78+-.08
///
/// On tables of learning curves with four rungs, looked up by the nearest row, it was
/// behind asha (two of TaskSet's, 4 seeds): there, take that.
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
                 const std::vector<individual>& known) const;

  std::shared_ptr<const search_space> space_;
  std::vector<std::uint32_t> rungs_;
  std::vector<double> spent_; ///< Epochs that were ordered on each rung.
  /// Whose trainings were ordered to go on, of those that are remembered.
  std::set<candidate_id> promoted_;
};

} // namespace clade
