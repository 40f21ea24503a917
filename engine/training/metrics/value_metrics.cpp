#include "engine/training/metrics/value_metrics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace clade {

namespace {

/// Returns the mean of the values that `of` makes of each pair of an actual and a
/// predicted value.
template<class Of>
double mean(const value_predictions& p, Of of) {
  double sum = 0;
  for (std::size_t i = 0; i < p.actual.size(); ++i)
    sum += of(p.actual[i], p.predicted[i]);
  return p.actual.empty() ? 0 : sum / static_cast<double>(p.actual.size());
}

} // namespace

double mean_squared_error(const value_predictions& p) {
  return mean(p, [](double a, double b) { return (a - b) * (a - b); });
}

double mean_absolute_error(const value_predictions& p) {
  return mean(p, [](double a, double b) { return std::abs(a - b); });
}

double mean_absolute_percentage_error(const value_predictions& p) {
  return mean(p, [](double a, double b) {
    return std::abs(a - b)
           / std::max(std::abs(a), std::numeric_limits<double>::epsilon());
  });
}

double symmetric_percentage_error(const value_predictions& p) {
  return mean(p, [](double a, double b) {
    const double size = std::abs(a) + std::abs(b);
    return size > 0 ? 2 * std::abs(a - b) / size : 0;
  });
}

double r2(const value_predictions& p) {
  const double center = mean(p, [](double a, double) { return a; });
  const double spread =
      mean(p, [&](double a, double) { return (a - center) * (a - center); });
  const double squares = mean_squared_error(p);
  return spread > 0 ? 1 - squares / spread : squares == 0 ? 1.0 : 0.0;
}

} // namespace clade
