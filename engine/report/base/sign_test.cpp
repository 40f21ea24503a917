#include "engine/report/base/sign_test.hpp"

#include <algorithm>
#include <cmath>

namespace clade {

double sign_test(const paired_signs& signs) {
  const auto n = static_cast<double>(signs.decided());
  const auto fewer = std::min(signs.first, signs.second);
  // C(n, k) / 2^n by its logarithm: exact enough for any n, and neither part overflows.
  double log_term = -n * std::log(2.0), tail = 0;
  for (std::size_t k = 0; k <= fewer; ++k) {
    tail += std::exp(log_term);
    log_term += std::log((n - static_cast<double>(k)) / static_cast<double>(k + 1));
  }
  return std::min(1.0, 2 * tail);
}

} // namespace clade
