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

/// What the greatest value would be scored if no other were equal to it: its score, or,
/// where several share the greatest, more. So it is what beats a plateau. Of at least
/// one.
[[nodiscard]] double score_alone_at_top(const std::vector<double>& values);

} // namespace clade
