// The third objective is cut at every value of the front; within each slab only the
// points that reach its upper end count. There the first objective is cut at the points
// of the plane's front, and between two cuts the second is free above the higher of what
// lies to the right. For two objectives there is one slab.
#include "engine/search/models/fitted/front_improvement.hpp"

#include "engine/search/models/fitted/screening.hpp"
#include "genome/base/portable_math.hpp"

#include <algorithm>
#include <functional>
#include <limits>

namespace clade {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The reference, then each value once, then infinity.
std::vector<double> cuts_of(const std::vector<objective_point>& front,
                            const objective_point& reference, std::size_t objective) {
  std::vector<double> cuts{reference[objective], infinity};
  for (const auto& p : front)
    cuts.push_back(p[objective]);
  std::ranges::sort(cuts);
  const auto twice = std::ranges::unique(cuts);
  cuts.erase(twice.begin(), twice.end());
  return cuts;
}

std::size_t place_in(const std::vector<double>& cuts, double v) {
  return static_cast<std::size_t>(std::ranges::lower_bound(cuts, v) - cuts.begin());
}

} // namespace

front_improvement::front_improvement(const std::vector<objective_point>& front,
                                     const objective_point& reference) {
  auto above = front;
  std::erase_if(above, [&](const objective_point& p) {
    for (std::size_t m = 0; m < p.size(); ++m)
      if (p[m] <= reference[m])
        return true;
    return false;
  });
  for (std::size_t m = 0; m < reference.size(); ++m)
    at_.push_back(cuts_of(above, reference, m));
  if (reference.size() == 2)
    cut_plane(above, 0, 0);
  for (std::size_t slab = 0; reference.size() > 2 && slab + 1 < at_[2].size(); ++slab) {
    auto reaching = above;
    std::erase_if(reaching,
                  [&](const objective_point& p) { return p[2] < at_[2][slab + 1]; });
    cut_plane(reaching, slab, slab + 1);
  }
}

void front_improvement::cut_plane(const std::vector<objective_point>& front,
                                  std::size_t low, std::size_t high) {
  auto falling = front;
  std::ranges::sort(falling, std::greater<>());
  std::size_t to = at_[0].size() - 1, height = 0;
  for (const auto& p : falling) {
    const auto own = place_in(at_[1], p[1]);
    if (own <= height)
      continue;
    const auto from = place_in(at_[0], p[0]);
    // Two of one value in the first: the higher comes first.
    if (from < to)
      boxes_.push_back(
          {.from = from, .to = to, .above = height, .low = low, .high = high});
    to = from;
    height = own;
  }
  boxes_.push_back({.from = 0, .to = to, .above = height, .low = low, .high = high});
}

double front_improvement::log_expected(std::span<const prediction> of) const {
  std::vector<std::vector<double>> beyond;
  for (std::size_t m = 0; m < at_.size(); ++m) {
    auto& e = beyond.emplace_back();
    for (const double cut : at_[m])
      e.push_back(cut == infinity ? 0 : expected_excess(of[m], cut));
  }
  double sum = 0;
  for (const box& b : boxes_)
    sum += (beyond[0][b.from] - beyond[0][b.to]) * beyond[1][b.above]
           * (beyond.size() < 3 ? 1 : beyond[2][b.low] - beyond[2][b.high]);
  return portable_log(std::max(sum, std::numeric_limits<double>::min()));
}

} // namespace clade
