#pragma once

#include "engine/search/strategies/rungs/hyperband.hpp"

namespace clade {

/// DEHB (Awad, Mallik and Hutter, "DEHB: Evolutionary Hyperband for Scalable, Robust and
/// Efficient Hyperparameter Optimization", IJCAI 2021): Hyperband whose new candidates
/// come from differential evolution over the hyperparameters, mapped to the unit cube
/// (genome/genes/unit_cube.hpp). Each rung has a population of max(4, population / reduction).
/// A new candidate on rung b is the trial vector of one of its members x:
///
///   v   = r1 + 0.5 (r2 - r3)       r distinct, from the population one rung below, or,
///                                  on the lowest, from its own
///   u_j = v_j with the chance 0.5, and for one j in any case, else x_j
///
/// A coordinate outside of [0, 1] is drawn again. The trial takes the place of x if it is
/// fitter; what is promoted to a rung, or sampled, that of the worst there. A candidate
/// that is promoted is trained on, as in Hyperband, while the paper's later brackets
/// train trials alone: so no epoch is paid twice. A space with operators has each trial
/// take the graph of x or of r1, mutated. Until a rung has four members, candidates are
/// bred as Hyperband's are.
///
/// To take where hyperparameters are most of what is searched, and mostly numbers.
class dehb final : public hyperband {
public:
  dehb(const evolution_params& params, std::uint64_t seed);

  /// Whether the space has hyperparameters.
  [[nodiscard]] static expected<void> serves(const search_space& space);

  void close() override;

private:
  void choose_new(breeding& order, std::size_t rung) const override;
  void heard(const individual& evaluated, std::size_t rung, bool promoted) override;
  [[nodiscard]] std::size_t member_of(candidate_id trial, std::size_t rung) const;
  [[nodiscard]] const std::vector<individual>& pool(std::size_t rung) const;

  std::vector<std::vector<individual>> members_; ///< By rung, in no order.
  std::vector<std::size_t> sizes_; ///< How many there were as trials were chosen.
};

} // namespace clade
