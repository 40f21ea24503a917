#pragma once

#include "engine/search/bases/generations.hpp"

namespace clade {

/// The (mu + lambda) evolution strategy (Rechenberg, 1973; Schwefel, 1981; Beyer and
/// Schwefel, "Evolution strategies: A comprehensive introduction", Natural Computing 1,
/// 2002). With mu = `elites` and lambda = `population`:
///
///   P(0)     = the mu best of lambda sampled
///   O(g)     = lambda children, each of a parent drawn evenly from P(g), mutated
///   P(g + 1) = the mu best of P(g) and O(g)
///
/// All parents are alike; the pressure is in who becomes one, and nobody leaves but for
/// somebody fitter, whatever its age. By the chance `crossover` a child has a second
/// parent and is a cross of the two. The failed are parents only where all failed.
///
/// Take it where evaluations are exact, or repeated: the best is never lost, and few
/// parents (1 to 8) climb fast. If fitness is noisy, a lucky one stays for ever and
/// breeds on: take "regularised", in which all die.
class mu_plus_lambda final : public generations {
public:
  using generations::generations;

  [[nodiscard]] static expected<void> validate(const evolution_params& params);

private:
  void choose_parents(breeding& order) const override;
  [[nodiscard]] std::size_t staying() const override { return params().elites; }
  [[nodiscard]] std::size_t surviving() const override { return params().elites; }
};

} // namespace clade
