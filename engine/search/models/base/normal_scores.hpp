#pragma once

#include <vector>

namespace clade {

/// The quantile of the standard normal distribution at 0 < p < 1, to a relative 1e-8: the
/// rational approximation of Acklam, 2003, in portable arithmetic.
[[nodiscard]] double normal_quantile(double p);

/// Each value's rank, as the normal quantile at it, brought to a deviation of 1. Equal
/// values share the middle of their ranks; all equal ones are 0. No value is NaN;
/// infinite ones are the last or the first.
[[nodiscard]] std::vector<double> normal_scores(const std::vector<double>& values);

/// Returns the score that the greatest value would have if no other were equal to it: its
/// score, or, where several share the greatest, more. So it is what beats a plateau.
/// There must be at least one value.
[[nodiscard]] double score_alone_at_top(const std::vector<double>& values);

} // namespace clade
