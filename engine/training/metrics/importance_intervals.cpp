#include "engine/training/metrics/importance_intervals.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace clade {

column_importance mean_importance(std::string column, std::span<const double> worse) {
  // The 97.5 % quantiles of Student's t with 1 degree of freedom, 2, 3 and so on.
  static constexpr std::array quantiles{12.706, 4.303, 3.182, 2.776, 2.571,
                                        2.447,  2.365, 2.306, 2.262};
  const auto n = static_cast<double>(worse.size());
  double mean = 0, squares = 0;
  for (const double w : worse)
    mean += w / n;
  for (const double w : worse)
    squares += (w - mean) * (w - mean);
  const double of_mean = std::sqrt(squares / (n - 1) / n);
  const double t = quantiles[std::min(worse.size() - 2, quantiles.size() - 1)];
  return {.column = std::move(column),
          .worse = mean,
          .low = mean - t * of_mean,
          .high = mean + t * of_mean};
}

} // namespace clade
