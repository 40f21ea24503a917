#include "engine/search/models/fitted/scalarisation.hpp"

#include "engine/search/core/pareto.hpp"
#include "engine/search/models/base/normal_scores.hpp"
#include "engine/search/models/fitted/screening.hpp"
#include "genome/base/portable_math.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace clade {

std::vector<double> shares_of(std::span<const fitness> all, std::size_t objective) {
  const auto value = [&](std::size_t i) { return point_of(all[i])[objective]; };
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].ok)
      order.push_back(i);
  const auto worse = [&](std::size_t a, std::size_t b) {
    if (all[a].violation > 0 || all[b].violation > 0)
      return all[a].violation > all[b].violation;
    return value(a) < value(b);
  };
  std::ranges::stable_sort(order, worse);
  const auto count = static_cast<double>(all.size());
  const auto failed = count - static_cast<double>(order.size());
  std::vector<double> shares(all.size(), failed / 2 / count);
  for (std::size_t first = 0; first < order.size();) {
    std::size_t end = first + 1;
    while (end < order.size() && !worse(order[first], order[end]))
      ++end;
    const double middle = failed + static_cast<double>(first + end) / 2;
    for (; first < end; ++first)
      shares[order[first]] = middle / count;
  }
  return shares;
}

std::vector<double> draw_weights(std::size_t objectives, random_stream& random) {
  std::vector<double> weights;
  for (std::size_t m = 0; m < objectives; ++m)
    weights.push_back(-portable_log(1 - random.uniform()));
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& w : weights)
    w = sum > 0 ? w / sum : 1 / static_cast<double>(objectives);
  return weights;
}

double tchebycheff(std::span<const double> shares, std::span<const double> weights) {
  double least = 0;
  for (std::size_t m = 0; m < weights.size(); ++m)
    least = std::min(least, weights[m] * (shares[m] - 1));
  return least;
}

tchebycheff_improvement::tchebycheff_improvement(double best,
                                                 std::span<const double> weights,
                                                 std::span<const double> units)
    : step_(-best / steps) {
  for (std::size_t k = 0; k < steps; ++k) {
    const double t = best + (static_cast<double>(k) + 0.5) * step_;
    auto& needed = needed_.emplace_back();
    for (std::size_t m = 0; m < weights.size(); ++m)
      // An objective of little weight may be as bad as it likes.
      needed.push_back(weights[m] + t > 0 ? normal_quantile(1 + t / weights[m]) / units[m]
                                          : -std::numeric_limits<double>::infinity());
  }
}

double tchebycheff_improvement::log_expected(std::span<const prediction> of) const {
  double sum = 0;
  for (const auto& needed : needed_) {
    double chance = 1;
    for (std::size_t m = 0; m < of.size(); ++m)
      if (std::isfinite(needed[m]))
        chance *= chance_above(of[m], needed[m]);
    sum += chance * step_;
  }
  return portable_log(std::max(sum, std::numeric_limits<double>::min()));
}

} // namespace clade
