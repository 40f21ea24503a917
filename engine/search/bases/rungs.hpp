#pragma once

#include "engine/search/core/strategy.hpp"

#include <array>
#include <deque>

namespace clade {

// The parts that strategies of several fidelities share. A fidelity is a number of
// epochs, a rung one of those that a search uses, the lowest first and the full training
// last. A candidate that is promoted is a new candidate of the same genome, whose
// training goes on where the one before it stopped (breeding::kind::train_on); each costs
// its further epochs alone, and each counts as one evaluation of the budget.

/// Some of the fidelities that there are, rising, the last among them: those nearest (by
/// ratio) to last / eta, last / eta^2, and so on, as far as that is not below the first.
/// For [1, ..., 15] and 3 that is [2, 5, 15], for [12, 200] both.
[[nodiscard]] std::vector<std::uint32_t>
rungs_of(const std::vector<std::uint32_t>& fidelities, std::size_t eta);
/// Returns the rungs of all numbers of epochs up to that.
[[nodiscard]] std::vector<std::uint32_t> rungs_of(std::uint32_t epochs, std::size_t eta);

/// So many at even distances, or as many as there are epochs.
[[nodiscard]] std::vector<std::uint32_t> even_rungs(std::uint32_t epochs,
                                                    std::size_t count);

/// Rungs are laid so far apart, and the share that goes on is one of so many, where
/// nothing is said.
inline constexpr std::size_t usual_reduction = 3;
/// The mean ratio of one rung to the next, from 2 to 100. With that reduction each rung
/// costs what the one below it costs, which is what halving rests on: of [12, 200] one of
/// 17 goes on. (On NAS-Bench-201 asha has a third to a half of the regret that it has
/// with one of 3, for equal epochs.)
[[nodiscard]] std::size_t reduction_by(const std::vector<std::uint32_t>& rungs);
[[nodiscard]] std::size_t reduction_of(const evolution_params& params);

/// Returns the id of the candidate from whose weights a candidate must start that goes on
/// from this one: the one that was really trained, if this one's evaluation is a copy.
[[nodiscard]] candidate_id start_of(const individual& i);

/// Makes the order one to train `i` on to so many epochs.
void train_on(breeding& order, const individual& i, std::uint32_t epochs);

/// The share of new candidates that is sampled whatever there is to breed from. Without
/// it (Falkner, Klein and Hutter, "BOHB", ICML 2018, which has the same) halving, whose
/// selection on each rung adds to that of parents, is soon stuck with one family.
inline constexpr double sampled_share = 1.0 / 3;

/// Makes the order one for a new candidate, to be trained for so many epochs: a mutant of
/// the winner of a tournament among `parents` or, with the chance `crossover`, a cross of
/// two; sampled where nobody among them succeeded, in generation 0, and otherwise with
/// the chance `sampled`.
void breed_new(breeding& order, const std::vector<individual>& parents,
               std::uint32_t epochs, const evolution_params& params, std::uint64_t seed,
               double sampled = sampled_share);

/// The last results on each rung, so many of each (`window`): the state is bounded, and a
/// newcomer is compared with what the search finds now and not with its beginnings. If
/// there are several objectives, the best of a rung are those of its first front, the
/// lonelier first, then those of the next (Schmucker, Donini, Zafar, Salinas and
/// Archambeau, "Multi-objective Asynchronous Successive Halving", arXiv 2106.12639, 2021;
/// the order is NSGA-II's, front_order.hpp).
class rung_ladder {
public:
  explicit rung_ladder(const evolution_params& params);

  /// The population is another.
  void resize(const evolution_params& params);

  void add(const individual& i);

  [[nodiscard]] std::size_t height() const { return rungs_.size(); }
  [[nodiscard]] std::uint32_t epochs(std::size_t rung) const { return rungs_[rung]; }
  /// The rung that it was trained to; the top for one that was trained as the experiment
  /// says.
  [[nodiscard]] std::size_t rung_of(const individual& i) const;

  /// How many of those on its rung are better than this one, and how many are there.
  struct standing {
    std::size_t better = 0, of = 0;
  };
  [[nodiscard]] standing standing_of(const individual& i) const;

  /// The best among the first 1 / `reduction` of a rung that did not fail and was not
  /// taken from here yet, if any.
  [[nodiscard]] std::optional<individual> take_promotable(std::size_t rung,
                                                          std::size_t reduction);

  /// Who may breed: all on the highest rung on which population / reduction succeeded,
  /// best first; where there is no such rung, all on the lowest that has any.
  [[nodiscard]] const std::vector<individual>& breeders() const;

private:
  struct rung {
    std::deque<candidate_id> by_age;
    std::vector<individual> by_worth;
    std::vector<candidate_id> taken; ///< Sorted.
    std::size_t succeeded = 0;
  };
  static void drop_oldest(rung& r);

  std::vector<std::uint32_t> rungs_;
  std::vector<rung> at_;
  std::size_t window_ = 0, enough_ = 0;
};

} // namespace clade
