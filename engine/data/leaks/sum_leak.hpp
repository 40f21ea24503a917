#pragma once

#include "engine/data/leaks/target_leak.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace clade {

/// Columns that make up the target together.
struct sum_leak {
  std::vector<std::size_t> columns; ///< Rising; none of them can be left out.
  double share = 0;                 ///< The coefficient of determination in unseen rows.
  bool multiplied = false; ///< A product of their powers, and not a weighted sum.
};

/// Looks for a few columns of numbers, at most 6, whose weighted sum is the target, or the
/// product of whose powers is: total = price * count. Every second row is predicted by
/// the others; a coefficient of determination of at least 0.9999 counts (0.999 of one
/// column). Needs 50 rows. Columns that are no numbers are passed over.
[[nodiscard]] std::optional<sum_leak> adds_up(std::span<const sampled_column> features,
                                              const sampled_column& target);

} // namespace clade
