#include "engine/search/strategies/rungs/asha.hpp"

namespace clade {

void asha::hear(const individual& evaluated) {
  ladder_.add(evaluated);
}

void asha::changed() {
  ladder_.resize(params());
}

void asha::choose(breeding& order) {
  for (auto rung = ladder_.height() - 1; rung-- > 0;)
    if (const auto best = ladder_.take_promotable(rung, reduction_of(params())))
      return train_on(order, *best, ladder_.epochs(rung + 1));
  breed_new(order, ladder_.breeders(), ladder_.epochs(0), params(), seed());
}

std::vector<individual> asha::population() const {
  return ladder_.breeders();
}

} // namespace clade
