#pragma once

#include "engine/search/core/candidate.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace clade {

/// Values of several objectives, each to be raised and finite.
using objective_point = std::vector<double>;

/// At least as good in each and better in one.
[[nodiscard]] bool dominates(std::span<const double> a, std::span<const double> b);

/// All that a fitness is measured by: its objectives, or the primary one alone.
[[nodiscard]] objective_point point_of(const fitness& f);

/// The same with constraints (Deb et al. 2002): whoever did not fail dominates the
/// failed, the feasible dominate the others, and of those the smaller violation does.
[[nodiscard]] bool dominates(const fitness& a, const fitness& b);

/// Fronts of indices, the best first: no member of a front dominates another one, and
/// each is dominated by one of the front before. Within a front indices rise. Deb's
/// fronts, found by efficient non-dominated sort (Zhang et al., "An efficient approach to
/// nondominated sorting", IEEE TEC 19(2), 2015) in O(n log n) for two objectives and at
/// worst O(m n^2) for m.
[[nodiscard]] std::vector<std::vector<std::size_t>>
sort_into_fronts(std::span<const objective_point> all);
[[nodiscard]] std::vector<std::vector<std::size_t>>
sort_into_fronts(std::span<const fitness> all);

/// How lonely each point of a front is: the sum over objectives of the distance between
/// its neighbours, as a share of the front's extent; infinite at both ends of each
/// (Deb et al. 2002). Ties are ordered by index.
[[nodiscard]] std::vector<double>
crowding_distances(std::span<const objective_point> front);

/// The volume that the points dominate above `reference`; what is not above it in each
/// objective adds nothing. Exact: a sweep for up to three objectives (O(n log n)),
/// beyond that by exclusive volumes, one objective less at each step (While, Bradstreet
/// and Barone, "A fast way of calculating exact hypervolumes", IEEE TEC 16(1), 2012).
/// Meant for up to six objectives, and with more than four for fronts of a hundred.
[[nodiscard]] double hypervolume(std::vector<objective_point> points,
                                 const objective_point& reference);

/// The box in which a run's hypervolume is measured: from the worst value of each
/// objective among the first generation's candidates that did not fail, in units of the
/// distance between their worst and their best. So it has no unit; 1 would be one
/// candidate that is as good as the first generation's best in everything.
struct hypervolume_box {
  objective_point worst;
  objective_point extent; ///< Above 0; 1 where all are alike.

  friend bool operator==(const hypervolume_box&, const hypervolume_box&) = default;
};

/// None where all failed: the next generation is the first then.
[[nodiscard]] std::optional<hypervolume_box> box_of(std::span<const fitness> generation);

/// Returns the hypervolume of a front in that box.
[[nodiscard]] double hypervolume(std::span<const fitness> front,
                                 const hypervolume_box& box);

/// How far a search has come.
struct front_size {
  std::size_t members = 0;
  double hypervolume = 0;
};

/// Returns the size of the front after a generation, which makes the run's box if none
/// did before it.
[[nodiscard]] front_size measure_front(std::span<const fitness> front,
                                       std::span<const fitness> generation,
                                       std::optional<hypervolume_box>& box);

template<class Member>
[[nodiscard]] std::vector<fitness> fitnesses_of(const std::vector<Member>& members,
                                                clade::fitness Member::*fitness_of) {
  std::vector<fitness> all;
  for (const auto& member : members)
    all.push_back(member.*fitness_of);
  return all;
}

/// The most that a front of a run keeps: enough to choose from and few enough that its
/// hypervolume is soon found.
inline constexpr std::size_t kept_front = 100;

/// The index of the most crowded, never an end.
[[nodiscard]] std::size_t most_crowded(std::span<const objective_point> front);

/// Takes `one` into a front that is sorted by `fitter`, where no member dominates it, and
/// drops those that it dominates; of equal ones the older stays. The infeasible and the
/// failed stay out. Beyond `kept_front` the most crowded member goes. A member has an id
/// and, where `fitness_of` says, a fitness.
template<class Member>
void join_front(std::vector<Member>& front, const Member& one,
                clade::fitness Member::*fitness_of) {
  const auto& f = one.*fitness_of;
  if (!f.ok || f.violation > 0)
    return;
  const auto own = point_of(f);
  for (const auto& member : front)
    if (const auto other = point_of(member.*fitness_of);
        other == own || dominates(other, own))
      return;
  std::erase_if(front, [&](const Member& member) {
    return dominates(own, point_of(member.*fitness_of));
  });
  const auto before = [&](const Member& a, const Member& b) {
    return fitter({.id = a.id, .fitness = a.*fitness_of},
                  {.id = b.id, .fitness = b.*fitness_of});
  };
  front.insert(std::upper_bound(front.begin(), front.end(), one, before), one);
  if (front.size() <= kept_front)
    return;
  std::vector<objective_point> points;
  for (const auto& member : front)
    points.push_back(point_of(member.*fitness_of));
  front.erase(front.begin() + static_cast<std::ptrdiff_t>(most_crowded(points)));
}

} // namespace clade
