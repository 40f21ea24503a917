#include "engine/search/strategies/successive_halving.hpp"

namespace clade {

successive_halving::successive_halving(const evolution_params& params, std::uint64_t seed)
    : brackets(params, seed) {
  begin();
}

std::vector<double> successive_halving::beginnings() const {
  std::vector<double> shares(ladder().height(), 0);
  shares.front() = 1;
  return shares;
}

} // namespace clade
