#pragma once

#include "engine/search/bases/brackets.hpp"

namespace clade {

/// Synchronous successive halving (Jamieson and Talwalkar, "Non-stochastic Best Arm
/// Identification and Hyperparameter Optimization", AISTATS 2016): all brackets begin on
/// the lowest rung, and of each rung the best 1 / `reduction` go on to the next. Each
/// bracket therefore spends about the same on every rung. Brackets overlap
/// (brackets.hpp): while one climbs, the next begins, its candidates bred from the
/// highest rung that enough have reached, where the paper has but one bracket, of random
/// ones.
///
/// To take in place of `asha` when the search is to be the same for any number of workers
/// and still keep all of them busy, and when the first epochs can be trusted.
class successive_halving final : public brackets {
public:
  using brackets::brackets;

private:
  [[nodiscard]] std::vector<double> beginnings() const override;
};

} // namespace clade
