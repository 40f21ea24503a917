// Fronts. Points are taken from the greatest down (by the first objective, then the
// next), so that none is dominated by a later one. Each goes to the first front that has
// no member which dominates it; whether a front has one is monotonous in its number,
// hence the binary search. For two objectives the member added last tells for the whole
// front.
//
// Hypervolume of three objectives: points by falling z; each slab between two of them has
// the area below a staircase in x and y, which is kept up to date. For more: points by
// falling last value; each adds a slab of that height over the part of the others' space
// that those before it leave, which is its own box there less the volume of theirs,
// clipped to it.
#include "engine/search/core/pareto.hpp"

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>

namespace clade {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

using fronts = std::vector<std::vector<std::size_t>>;

std::vector<std::size_t> indices(std::size_t n) {
  std::vector<std::size_t> all(n);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

bool dominated_by(const std::vector<std::size_t>& front,
                  std::span<const objective_point> all, std::size_t one) {
  const auto dominates_it = [&](std::size_t other) {
    return dominates(all[other], all[one]);
  };
  if (all[one].size() <= 2)
    return dominates_it(front.back());
  return std::any_of(front.rbegin(), front.rend(), dominates_it);
}

/// Returns the points above the reference, counted from it.
std::vector<objective_point> above(std::vector<objective_point> points,
                                   const objective_point& reference) {
  std::erase_if(points, [&](objective_point& p) {
    for (std::size_t i = 0; i < p.size(); ++i)
      if (!((p[i] -= reference[i]) > 0))
        return true;
    return false;
  });
  return points;
}

double box_volume(std::span<const double> p) {
  return std::accumulate(p.begin(), p.end(), 1.0, std::multiplies<>());
}

double volume1(const std::vector<objective_point>& points) {
  double most = 0;
  for (const auto& p : points)
    most = std::max(most, p[0]);
  return most;
}

double volume2(std::vector<objective_point>& points) {
  std::ranges::sort(points, std::greater<>());
  double area = 0, height = 0;
  for (const auto& p : points)
    if (p[1] > height) {
      area += p[0] * (p[1] - height);
      height = p[1];
    }
  return area;
}

/// The area below points of a plane, of which none dominates another.
class staircase {
public:
  /// By how much the area grows.
  double add(double x, double y) {
    auto next = steps_.lower_bound(x);
    if (next != steps_.end() && next->second >= y)
      return 0;
    // From right to left over what the new step covers.
    double grown = 0, right = x;
    double floor = next == steps_.end() ? 0 : next->second;
    if (next != steps_.end() && next->first == x)
      next = steps_.erase(next);
    while (next != steps_.begin()) {
      const auto left = std::prev(next);
      grown += (right - left->first) * (y - floor);
      right = left->first;
      floor = left->second;
      if (floor >= y)
        break;
      next = steps_.erase(left);
    }
    if (floor < y)
      grown += right * (y - floor);
    steps_.emplace(x, y);
    return grown;
  }

private:
  std::map<double, double> steps_; ///< The steps: as x rises, y falls.
};

double volume3(std::vector<objective_point>& points) {
  std::ranges::sort(points, [](const objective_point& a, const objective_point& b) {
    return a[2] > b[2];
  });
  staircase stairs;
  double volume = 0, area = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    area += stairs.add(points[i][0], points[i][1]);
    const double below = i + 1 < points.size() ? points[i + 1][2] : 0;
    volume += area * (points[i][2] - below);
  }
  return volume;
}

/// Keeps the points that no other dominates, each once.
void drop_dominated(std::vector<objective_point>& points) {
  std::ranges::sort(points, std::greater<>());
  std::vector<objective_point> kept;
  for (auto& p : points) {
    const auto covers = [&](const objective_point& other) {
      return std::ranges::equal(other, p, std::greater_equal<>());
    };
    if (std::none_of(kept.begin(), kept.end(), covers))
      kept.push_back(std::move(p));
  }
  points = std::move(kept);
}

double volume(std::vector<objective_point> points) {
  if (points.empty())
    return 0;
  const auto last = points.front().size() - 1;
  if (last == 0)
    return volume1(points);
  if (last == 1)
    return volume2(points);
  if (last == 2)
    return volume3(points);
  drop_dominated(points);
  std::ranges::sort(points, [=](const objective_point& a, const objective_point& b) {
    return a[last] > b[last];
  });
  double sum = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::span own(points[i].data(), last);
    std::vector<objective_point> clipped;
    for (std::size_t j = 0; j < i; ++j) {
      clipped.emplace_back(last);
      for (std::size_t k = 0; k < last; ++k)
        clipped.back()[k] = std::min(points[j][k], own[k]);
    }
    sum += points[i][last] * (box_volume(own) - volume(std::move(clipped)));
  }
  return sum;
}

} // namespace

bool dominates(std::span<const double> a, std::span<const double> b) {
  bool better = false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] < b[i])
      return false;
    better = better || a[i] > b[i];
  }
  return better;
}

objective_point point_of(const fitness& f) {
  return f.objectives.empty() ? objective_point{f.primary} : f.objectives;
}

bool dominates(const fitness& a, const fitness& b) {
  if (a.ok != b.ok)
    return a.ok;
  if (!a.ok)
    return false;
  if (a.violation > 0 || b.violation > 0)
    return a.violation < b.violation;
  return dominates(point_of(a), point_of(b));
}

fronts sort_into_fronts(std::span<const objective_point> all) {
  auto order = indices(all.size());
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    return all[a] != all[b] ? all[a] > all[b] : a < b;
  });
  fronts found;
  for (const auto one : order) {
    const auto place =
        std::partition_point(found.begin(), found.end(), [&](const auto& front) {
          return dominated_by(front, all, one);
        });
    if (place == found.end())
      found.push_back({one});
    else
      place->push_back(one);
  }
  for (auto& front : found)
    std::ranges::sort(front);
  return found;
}

fronts sort_into_fronts(std::span<const fitness> all) {
  std::vector<std::size_t> feasible, failed;
  std::map<double, std::vector<std::size_t>> missing;
  std::vector<objective_point> points;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].ok) {
      failed.push_back(i);
    } else if (all[i].violation > 0) {
      missing[all[i].violation].push_back(i);
    } else {
      feasible.push_back(i);
      points.push_back(point_of(all[i]));
    }
  }
  auto found = sort_into_fronts(points);
  for (auto& front : found)
    for (auto& i : front)
      i = feasible[i];
  for (auto& [violation, alike] : missing)
    found.push_back(std::move(alike));
  if (!failed.empty())
    found.push_back(std::move(failed));
  return found;
}

// Halves, so that the extent of finite numbers is finite.
std::vector<double> crowding_distances(std::span<const objective_point> front) {
  std::vector<double> distances(front.size(), 0);
  if (front.empty())
    return distances;
  for (std::size_t m = 0; m < front[0].size(); ++m) {
    auto order = indices(front.size());
    std::ranges::stable_sort(
        order, [&](std::size_t a, std::size_t b) { return front[a][m] < front[b][m]; });
    const auto half = [&](std::size_t place) { return front[order[place]][m] / 2; };
    distances[order.front()] = distances[order.back()] = infinity;
    const double extent = half(order.size() - 1) - half(0);
    for (std::size_t i = 1; i + 1 < order.size() && extent > 0; ++i)
      distances[order[i]] += (half(i + 1) - half(i - 1)) / extent;
  }
  return distances;
}

std::size_t most_crowded(std::span<const objective_point> front) {
  const auto distances = crowding_distances(front);
  return static_cast<std::size_t>(std::ranges::min_element(distances)
                                  - distances.begin());
}

double hypervolume(std::vector<objective_point> points,
                   const objective_point& reference) {
  return volume(above(std::move(points), reference));
}

std::optional<hypervolume_box> box_of(std::span<const fitness> generation) {
  std::optional<objective_point> worst, best;
  for (const auto& f : generation) {
    if (!f.ok)
      continue;
    const auto p = point_of(f);
    if (!worst)
      worst = best = p;
    for (std::size_t i = 0; i < p.size(); ++i) {
      (*worst)[i] = std::min((*worst)[i], p[i]);
      (*best)[i] = std::max((*best)[i], p[i]);
    }
  }
  if (!worst)
    return std::nullopt;
  hypervolume_box box{.worst = *worst, .extent = objective_point(worst->size(), 1)};
  for (std::size_t i = 0; i < box.extent.size(); ++i)
    if (const double between = (*best)[i] - (*worst)[i];
        between > 0 && std::isfinite(between))
      box.extent[i] = between;
  return box;
}

front_size measure_front(std::span<const fitness> front,
                         std::span<const fitness> generation,
                         std::optional<hypervolume_box>& box) {
  if (!box)
    box = box_of(generation);
  return {front.size(), box ? hypervolume(front, *box) : 0};
}

// A value that would overflow is cut off, far beyond any real improvement.
double hypervolume(std::span<const fitness> front, const hypervolume_box& box) {
  constexpr double most = 1e50;
  std::vector<objective_point> points;
  for (const auto& f : front) {
    if (!f.ok || f.violation > 0)
      continue;
    auto p = point_of(f);
    for (std::size_t i = 0; i < p.size(); ++i)
      p[i] = std::clamp((p[i] - box.worst[i]) / box.extent[i], -most, most);
    points.push_back(std::move(p));
  }
  return hypervolume(std::move(points), objective_point(box.worst.size(), 0));
}

} // namespace clade
