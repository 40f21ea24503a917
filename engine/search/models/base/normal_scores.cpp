#include "engine/search/models/base/normal_scores.hpp"

#include "genome/base/portable_math.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace clade {

double normal_quantile(double p) {
  constexpr double edge = 0.02425;
  if (p > 0.5)
    return -normal_quantile(1 - p);
  if (p < edge) {
    const double q = std::sqrt(-2 * portable_log(p));
    return (((((-7.784894002430293e-03 * q - 3.223964580411365e-01) * q
               - 2.400758277161838e+00)
                  * q
              - 2.549732539343734e+00)
                 * q
             + 4.374664141464968e+00)
                * q
            + 2.938163982698783e+00)
           / ((((7.784695709041462e-03 * q + 3.224671290700398e-01) * q
                + 2.445134137142996e+00)
                   * q
               + 3.754408661907416e+00)
                  * q
              + 1);
  }
  const double q = p - 0.5, r = q * q;
  return (((((-3.969683028665376e+01 * r + 2.209460984245205e+02) * r
             - 2.759285104469687e+02)
                * r
            + 1.383577518672690e+02)
               * r
           - 3.066479806614716e+01)
              * r
          + 2.506628277459239e+00)
         * q
         / (((((-5.447609879822406e+01 * r + 1.615858368580409e+02) * r
               - 1.556989798598866e+02)
                  * r
              + 6.680131188771972e+01)
                 * r
             - 1.328068155288572e+01)
                * r
            + 1);
}

namespace {

/// Returns the scores as they are before their deviation is brought to 1.
std::vector<double> raw_scores(const std::vector<double>& values) {
  const std::size_t n = values.size();
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::vector<double> scores(n);
  for (std::size_t first = 0; first < n;) {
    std::size_t end = first;
    while (end < n && values[order[end]] == values[order[first]])
      ++end;
    const double rank = static_cast<double>(first + end) / 2;
    const double score = normal_quantile(rank / static_cast<double>(n));
    for (; first < end; ++first)
      scores[order[first]] = score;
  }
  return scores;
}

/// 1 where all are equal.
double deviation_of(const std::vector<double>& scores) {
  double squares = 0;
  for (const double score : scores)
    squares += score * score;
  return squares > 0 ? std::sqrt(squares / static_cast<double>(scores.size())) : 1;
}

} // namespace

std::vector<double> normal_scores(const std::vector<double>& values) {
  auto scores = raw_scores(values);
  const double deviation = deviation_of(scores);
  for (double& score : scores)
    score /= deviation;
  return scores;
}

double score_alone_at_top(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  return normal_quantile((n - 0.5) / n) / deviation_of(raw_scores(values));
}

} // namespace clade
