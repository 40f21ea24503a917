#pragma once

#include <cstddef>

namespace clade {

/// Pairs in which the first side was better, the second was, and neither.
struct paired_signs {
  std::size_t first = 0, second = 0, equal = 0;

  [[nodiscard]] std::size_t decided() const { return first + second; }
};

/// The two-sided p-value of the exact sign test (Dixon and Mood, 1946): how likely, if
/// each side were better as often as the other, is a split of the decided pairs that is
/// as uneven as this, or more. Equal pairs are left out, as is usual; 1 if none is
/// decided.
[[nodiscard]] double sign_test(const paired_signs& signs);

} // namespace clade
