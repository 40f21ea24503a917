// A case that somebody lacks is the worst that he can have: minus infinity, which passes
// only where all that are left have it. Such values do not enter the medians.
#include "engine/search/core/lexicase.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace clade {

namespace {

std::vector<double> cases_of(const individual& i) {
  if (!i.cases.empty())
    return i.cases;
  return {i.fitness.primary, i.fitness.secondary};
}

double median(std::vector<double> values) {
  if (values.empty())
    return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1)
    return *middle;
  return 0.5 * (*std::max_element(values.begin(), middle) + *middle);
}

double median_deviation(const std::vector<double>& values) {
  std::vector<double> finite;
  std::copy_if(values.begin(), values.end(), std::back_inserter(finite),
               [](double v) { return std::isfinite(v); });
  const double centre = median(finite);
  for (double& v : finite)
    v = std::fabs(v - centre);
  return median(std::move(finite));
}

} // namespace

lexicase::lexicase(const std::vector<individual>& population)
    : population_(population.size()) {
  std::size_t cases = 0;
  for (const auto& i : population)
    cases = std::max(cases, cases_of(i).size());
  values_.assign(cases, std::vector<double>(population.size(),
                                            -std::numeric_limits<double>::infinity()));
  for (std::size_t n = 0; n < population.size(); ++n) {
    const auto own = cases_of(population[n]);
    for (std::size_t c = 0; c < own.size(); ++c)
      if (std::isfinite(own[c]))
        values_[c][n] = own[c];
  }
  for (const auto& v : values_)
    epsilons_.push_back(median_deviation(v));
}

std::size_t lexicase::select(random_stream& random) const {
  std::vector<std::size_t> left(population_), order(values_.size());
  std::iota(left.begin(), left.end(), 0);
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t at = 0; at < order.size() && left.size() > 1; ++at) {
    std::swap(order[at], order[at + random.below(order.size() - at)]);
    const auto& values = values_[order[at]];
    double best = -std::numeric_limits<double>::infinity();
    for (const auto n : left)
      best = std::max(best, values[n]);
    const double least = best - epsilons_[order[at]];
    std::erase_if(left, [&](std::size_t n) { return values[n] < least; });
  }
  return left[random.below(left.size())];
}

} // namespace clade
