#include "engine/search/strategies/rungs/hyperband.hpp"

#include <cmath>

namespace clade {

std::vector<double> hyperband::beginnings() const {
  const auto rungs = ladder().height();
  std::vector<double> shares(rungs);
  double power = 1;
  for (auto b = rungs; b-- > 0; power *= static_cast<double>(reduction_of(params())))
    shares[b] =
        std::ceil(static_cast<double>(rungs) / static_cast<double>(rungs - b) * power);
  return shares;
}

} // namespace clade
