#pragma once

#include "engine/run/steps/verify.hpp"

#include <vector>

namespace clade {

/// Returns the verifier's finding on these records, which it takes until one differs.
[[nodiscard]] inline verification verified(const rules_reader& rules,
                                           const std::vector<record>& records) {
  verifier v(rules, 2);
  std::uint64_t sequence = 0;
  for (const auto& r : records)
    if (!v.take(++sequence, r))
      break;
  return v.finish();
}

} // namespace clade
