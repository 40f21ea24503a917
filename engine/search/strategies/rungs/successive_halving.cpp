#include "engine/search/strategies/rungs/successive_halving.hpp"

namespace clade {

std::vector<double> successive_halving::beginnings() const {
  std::vector<double> shares(ladder().height(), 0);
  shares.front() = 1;
  return shares;
}

} // namespace clade
