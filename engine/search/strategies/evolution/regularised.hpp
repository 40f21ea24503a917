#pragma once

#include "engine/search/bases/adaptive_rates.hpp"
#include "engine/search/bases/ageing.hpp"

namespace clade {

/// Regularised (ageing) evolution in a steady state (Real, Aggarwal, Huang and Le,
/// "Regularized Evolution for Image Classifier Architecture Search", AAAI 2019). The
/// first `population` candidates are sampled. From then on each child has the winner of a
/// tournament among the living as its parent, is mutated, and takes the place of the
/// oldest, however fit that one is. With the chance `crossover`, which the paper does not
/// have, the child has a second such parent.
class regularised final : public ageing {
public:
  regularised(const evolution_params& params, std::uint64_t seed)
      : ageing(params, seed),
        learning_(params.mutation) {}

  void born(const candidate& c) override;

private:
  void hear(const individual& evaluated) override;
  void choose(breeding& order) override;
  void changed() override;

  mutation_learning learning_;
};

} // namespace clade
