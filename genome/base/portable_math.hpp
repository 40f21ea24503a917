#pragma once

namespace clade {

/// Logarithm, exponential and cosine from IEEE 754 additions, multiplications and
/// divisions alone, to within 2 units in the last place or so. The C library's differ
/// between systems in the last bit, which would make a search depend on the machine that
/// ran it.

/// The natural logarithm of a positive, finite, normal number.
[[nodiscard]] double portable_log(double x);

/// e to the power of x; x is taken as -700 or 700 where it lies beyond.
[[nodiscard]] double portable_exp(double x);

/// The cosine of 2 pi `turns`, for `turns` in [0, 1).
[[nodiscard]] double portable_cos(double turns);

} // namespace clade
