#pragma once

#include "engine/search/bases/rungs.hpp"
#include "engine/search/bases/steady.hpp"

#include <deque>

namespace clade {

/// The median stopping rule (Golovin, Solnik, Moitra, Kochanski, Karro and Sculley,
/// "Google Vizier: A Service for Black-Box Optimization", KDD 2017), with evolution in
/// place of random sampling. Every so many epochs (the rungs, at even distances unless
/// given) a candidate goes on if its fitness there is not below the median of the last
/// population x reduction that were seen there, itself among them; the others end. In the
/// paper a running mean over the epochs before is compared; here it is what the weights
/// that are kept have reached. New candidates come about as in `asha`.
///
/// By several objectives that is the first half by front (rung_ladder).
///
/// It stops half of the candidates at each rung, not two of three, and asks for little
/// trust in early epochs: to take when learning curves cross often, or training is so
/// short that halving saves little.
class median_stopping final : public steady {
public:
  median_stopping(const evolution_params& params, std::uint64_t seed)
      : steady(params, seed),
        ladder_(params) {}

  [[nodiscard]] std::vector<individual> population() const override;

private:
  void hear(const individual& evaluated) override;
  void choose(breeding& order) override;
  void changed() override;

  rung_ladder ladder_;
  std::deque<individual> going_on_; ///< No order is given for them yet.
};

} // namespace clade
