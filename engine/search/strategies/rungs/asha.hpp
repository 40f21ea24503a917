#pragma once

#include "engine/search/bases/rungs.hpp"
#include "engine/search/bases/steady.hpp"

namespace clade {

/// Asynchronous successive halving (Li, Jamieson, Rostamizadeh, Gonina, Ben-tzur, Hardt,
/// Recht and Talwalkar, "A System for Massively Parallel Hyperparameter Tuning", MLSys
/// 2020), with evolution in place of random sampling. Whenever a place is free, the rungs
/// are looked through from the top: whoever is among the best floor(n / reduction) of the
/// n on a rung and was not promoted from there goes on to the next. If nobody is, a new
/// candidate begins on the lowest rung: sampled in generation 0, then a mutant, or by
/// `crossover` a cross, of winners of a tournament on the highest rung that enough have
/// reached. No rung is ever waited for, so no slot idles behind a straggler; the price is
/// that some are promoted whom later ones turn out to beat.
///
/// n counts the last population x reduction on the rung and not all, as in the paper: the
/// children of good parents would all be among the best of all time, and nothing would be
/// halved.
///
/// The best on a rung are, by several objectives, its first front (rung_ladder).
///
/// To take when trainings take long, their first epochs tell something of the last, and
/// there are several slots.
class asha final : public steady {
public:
  asha(const evolution_params& params, std::uint64_t seed)
      : steady(params, seed),
        ladder_(params) {}

  [[nodiscard]] std::vector<individual> population() const override;

private:
  void hear(const individual& evaluated) override;
  void choose(breeding& order) override;
  void changed() override;

  rung_ladder ladder_;
};

} // namespace clade
