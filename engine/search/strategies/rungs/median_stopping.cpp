#include "engine/search/strategies/rungs/median_stopping.hpp"

namespace clade {

void median_stopping::hear(const individual& evaluated) {
  ladder_.add(evaluated);
  if (!evaluated.fitness.ok || ladder_.rung_of(evaluated) + 1 == ladder_.height())
    return;
  const auto standing = ladder_.standing_of(evaluated);
  if (2 * standing.better < standing.of)
    going_on_.push_back(evaluated);
}

void median_stopping::changed() {
  ladder_.resize(params());
}

void median_stopping::choose(breeding& order) {
  if (going_on_.empty())
    return breed_new(order, ladder_.breeders(), ladder_.epochs(0), params(), seed());
  train_on(order, going_on_.front(),
           ladder_.epochs(ladder_.rung_of(going_on_.front()) + 1));
  going_on_.pop_front();
}

std::vector<individual> median_stopping::population() const {
  return ladder_.breeders();
}

} // namespace clade
