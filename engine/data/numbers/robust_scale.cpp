// Few numbers that make a deviation are far from the mean: most columns have none that is,
// and are done with before anything is ordered.
#include "engine/data/numbers/robust_scale.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace clade {
namespace {

/// The mean and deviation of numbers, and the largest distance from the mean.
struct moments {
  std::size_t count = 0;
  double mean = 0, deviation = 0, farthest = 0;
};

moments moments_of(std::span<const double> numbers) {
  moments m{.count = numbers.size()};
  const auto n = static_cast<double>(numbers.size());
  for (const double v : numbers)
    m.mean += v / n;
  double squares = 0;
  for (const double v : numbers) {
    squares += (v - m.mean) * (v - m.mean) / n;
    m.farthest = std::max(m.farthest, std::abs(v - m.mean));
  }
  m.deviation = std::sqrt(squares);
  return m;
}

} // namespace

double robust_scale::distance(double v) const {
  return std::abs(v - median) / deviation;
}

std::optional<robust_scale> find_robust_scale(std::vector<double> numbers) {
  constexpr std::size_t least_numbers = 20;
  constexpr double dominated = 5, normal_range = 1.349, far = 4;
  const auto all = moments_of(numbers);
  if (all.count < least_numbers || !(all.farthest > far * all.deviation))
    return std::nullopt;
  const auto at = [&](std::size_t quarter) {
    const auto place =
        numbers.begin() + static_cast<std::ptrdiff_t>(quarter * all.count / 4);
    std::nth_element(numbers.begin(), place, numbers.end());
    return *place;
  };
  const double low = at(1), high = at(3);
  const robust_scale scale{.median = at(2), .deviation = (high - low) / normal_range};
  if (!(scale.deviation > 0) || !std::isfinite(scale.deviation))
    return std::nullopt;
  std::erase_if(numbers,
                [&](double v) { return scale.distance(v) > robust_scale::limit; });
  const auto rest = moments_of(numbers);
  const auto gross = all.count - rest.count;
  const bool needed = gross > 0 && gross <= std::max<std::size_t>(1, all.count / 100)
                      && all.deviation > dominated * rest.deviation;
  return needed ? std::optional(scale) : std::nullopt;
}

} // namespace clade
