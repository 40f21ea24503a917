// Selection: fronts are taken whole while they fit; of the next one `niching` takes as
// many as there is room for. Distances and shares are those of costs, which count from
// the ideal point downwards: 0 is best.
#include "engine/search/strategies/evolution/nsga3.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

namespace clade {

namespace {

/// More would make a niche of every candidate, at a cost.
constexpr std::size_t most_reference_points = 1000;

/// How many points a layer has; counts beyond the most are all alike.
std::size_t layer_size(std::size_t objectives, std::size_t divisions) {
  double size = 1;
  for (std::size_t i = 1; i < objectives; ++i)
    size *= static_cast<double>(divisions + i) / static_cast<double>(i);
  return static_cast<std::size_t>(std::llround(std::min(size, 1e9)));
}

struct layer_form {
  std::size_t objectives, divisions;
};

/// All points of a layer that begin with these shares; of `divisions` so many are left.
void add_layer(std::vector<objective_point>& all, objective_point& shares,
               std::size_t left, const layer_form& form) {
  const auto divisions = form.divisions;
  if (shares.size() + 1 == form.objectives) {
    shares.push_back(static_cast<double>(left) / static_cast<double>(divisions));
    all.push_back(shares);
    shares.pop_back();
    return;
  }
  for (std::size_t part = 0; part <= left; ++part) {
    shares.push_back(static_cast<double>(part) / static_cast<double>(divisions));
    add_layer(all, shares, left - part, form);
    shares.pop_back();
  }
}

std::vector<objective_point> plane(std::size_t objectives, std::size_t divisions) {
  std::vector<objective_point> all;
  objective_point shares;
  add_layer(all, shares, divisions, {objectives, divisions});
  return all;
}

/// The most divisions that fit; 0: not even one does.
std::size_t divisions_for(std::size_t objectives, std::size_t most) {
  std::size_t divisions = 0;
  while (layer_size(objectives, divisions + 1) <= most && divisions < most)
    ++divisions;
  return divisions;
}

/// The plane through the extreme points cuts the axes there; none where they span no
/// plane. Gaussian elimination of E a = 1, with pivots; the intercepts are 1 / a.
std::optional<objective_point> intercepts(std::vector<objective_point> rows) {
  const auto n = rows.size();
  for (auto& row : rows)
    row.push_back(1);
  for (std::size_t column = 0; column < n; ++column) {
    const auto pivot =
        std::max_element(rows.begin() + static_cast<std::ptrdiff_t>(column), rows.end(),
                         [&](const objective_point& a, const objective_point& b) {
                           return std::abs(a[column]) < std::abs(b[column]);
                         });
    std::iter_swap(rows.begin() + static_cast<std::ptrdiff_t>(column), pivot);
    if (std::abs(rows[column][column]) < 1e-12)
      return std::nullopt;
    for (std::size_t row = 0; row < n; ++row) {
      if (row == column)
        continue;
      const double factor = rows[row][column] / rows[column][column];
      for (std::size_t k = column; k <= n; ++k)
        rows[row][k] -= factor * rows[column][k];
    }
  }
  objective_point found;
  for (std::size_t i = 0; i < n; ++i)
    found.push_back(rows[i][i] / rows[i][n]);
  const bool usable =
      std::ranges::all_of(found, [](double x) { return std::isfinite(x) && x > 1e-12; });
  return usable ? std::optional(found) : std::nullopt;
}

/// In what units costs are compared, from those of the first front: the greatest of each,
/// and times the intercepts that they have in these where there are any. Other than in
/// the paper, which looks for the extremes before it scales, no unit leaves a trace.
objective_point units_of(std::vector<objective_point> front) {
  const auto n = front.front().size();
  objective_point units(n, 0);
  for (const auto& costs : front)
    for (std::size_t m = 0; m < n; ++m)
      units[m] = std::max(units[m], costs[m]);
  for (auto& unit : units)
    unit = unit > 0 ? unit : 1;
  for (auto& costs : front)
    for (std::size_t m = 0; m < n; ++m)
      costs[m] /= units[m];
  std::vector<objective_point> extremes;
  for (std::size_t axis = 0; axis < n; ++axis) {
    const auto reach = [&](const objective_point& costs) {
      double most = 0;
      for (std::size_t m = 0; m < n; ++m)
        most = std::max(most, m == axis ? costs[m] : costs[m] * 1e6);
      return most;
    };
    extremes.push_back(*std::ranges::min_element(front, {}, reach));
  }
  if (const auto found = intercepts(std::move(extremes)))
    for (std::size_t m = 0; m < n; ++m)
      units[m] *= (*found)[m];
  return units;
}

struct niche {
  std::size_t line = 0;
  double distance = 0; ///< Squared.
};

niche niche_of(const objective_point& costs, const std::vector<objective_point>& lines) {
  niche nearest{.line = 0, .distance = std::numeric_limits<double>::infinity()};
  const double length =
      std::inner_product(costs.begin(), costs.end(), costs.begin(), 0.0);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto& line = lines[i];
    const double along =
        std::inner_product(costs.begin(), costs.end(), line.begin(), 0.0);
    const double norm = std::inner_product(line.begin(), line.end(), line.begin(), 0.0);
    const double distance = std::max(0.0, length - along * along / norm);
    if (distance < nearest.distance)
      nearest = {i, distance};
  }
  return nearest;
}

/// Takes `room` of the last front, by niches. `taken`: those of the fronts before.
std::vector<std::size_t> niching(const std::vector<niche>& taken,
                                 const std::vector<niche>& last, std::size_t lines,
                                 std::size_t room, random_stream& random) {
  std::vector<std::size_t> members(lines, 0);
  for (const auto& one : taken)
    ++members[one.line];
  std::vector<std::vector<std::size_t>> waiting(lines);
  for (std::size_t i = 0; i < last.size(); ++i)
    waiting[last[i].line].push_back(i);
  std::vector<std::size_t> chosen;
  while (chosen.size() < room) {
    std::vector<std::size_t> fewest;
    for (std::size_t line = 0; line < lines; ++line) {
      if (waiting[line].empty())
        continue;
      if (!fewest.empty() && members[line] < members[fewest.front()])
        fewest.clear();
      if (fewest.empty() || members[line] == members[fewest.front()])
        fewest.push_back(line);
    }
    const auto line = fewest[random.below(fewest.size())];
    auto& there = waiting[line];
    const auto one =
        members[line] == 0
            ? std::ranges::min_element(there, {},
                                       [&](std::size_t i) { return last[i].distance; })
            : there.begin() + static_cast<std::ptrdiff_t>(random.below(there.size()));
    chosen.push_back(*one);
    there.erase(one);
    ++members[line];
  }
  std::ranges::sort(chosen);
  return chosen;
}

/// Returns the costs of each fitness that is feasible; a value that would overflow is cut
/// off.
std::vector<objective_point> costs_below(const objective_point& ideal,
                                         const std::vector<fitness>& all) {
  constexpr double most = 1e100;
  std::vector<objective_point> costs(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].ok || all[i].violation > 0)
      continue;
    costs[i] = point_of(all[i]);
    for (std::size_t m = 0; m < ideal.size(); ++m)
      costs[i][m] = std::min(most, ideal[m] - costs[i][m]);
  }
  return costs;
}

/// A selection that is not complete yet.
struct half_selected {
  const std::vector<objective_point>& costs;
  const std::vector<std::size_t>&first, &selected, &last; ///< Fronts, of indices.
  std::size_t surviving;
};

/// The members of the last front that complete it.
std::vector<std::size_t> fill(const half_selected& half, random_stream& random) {
  std::vector<objective_point> front;
  for (const auto i : half.first)
    front.push_back(half.costs[i]);
  const auto units = units_of(std::move(front));
  const auto lines =
      reference_points(units.size(), std::min(half.surviving, most_reference_points));
  const auto niches_of = [&](const std::vector<std::size_t>& members) {
    std::vector<niche> found;
    for (const auto i : members) {
      auto costs = half.costs[i];
      for (std::size_t m = 0; m < costs.size(); ++m)
        costs[m] /= units[m];
      found.push_back(niche_of(costs, lines));
    }
    return found;
  };
  std::vector<std::size_t> chosen;
  for (const auto i :
       niching(niches_of(half.selected), niches_of(half.last), lines.size(),
               half.surviving - half.selected.size(), random))
    chosen.push_back(half.last[i]);
  return chosen;
}

} // namespace

std::vector<objective_point> reference_points(std::size_t objectives, std::size_t most) {
  const auto outer = std::max<std::size_t>(1, divisions_for(objectives, most));
  if (objectives == 1)
    return {{1.0}};
  auto all = plane(objectives, outer);
  if (outer >= objectives || all.size() >= most)
    return all;
  const auto inner = std::min(outer, divisions_for(objectives, most - all.size()));
  if (inner == 0)
    return all;
  for (auto p : plane(objectives, inner)) {
    for (auto& share : p)
      share = share / 2 + 0.5 / static_cast<double>(objectives);
    all.push_back(std::move(p));
  }
  return all;
}

objective_point nsga3::ideal(const std::vector<individual>& pool) const {
  auto best = ideal_;
  for (const auto& i : pool) {
    if (!i.fitness.ok || i.fitness.violation > 0)
      continue;
    const auto p = point_of(i.fitness);
    if (best.empty())
      best = p;
    for (std::size_t m = 0; m < p.size(); ++m)
      best[m] = std::max(best[m], p[m]);
  }
  return best;
}

void nsga3::close() {
  ideal_ = ideal(pool());
  generations::close();
}

std::size_t nsga3::win(random_stream& random) const {
  const auto first = random.below(survivors().size());
  const auto second = random.below(survivors().size());
  const auto missed = [&](std::size_t i) { return survivors()[i].fitness.violation; };
  return missed(second) < missed(first) ? second : first;
}

void nsga3::choose_parents(breeding& order) const {
  if (order.generation == 0)
    return;
  auto random = derive(seed(), purpose::selection, order.generation, order.index);
  auto first = win(random);
  auto second = random.chance(params().crossover) ? win(random) : first;
  if (fitter(survivors()[second], survivors()[first]))
    std::swap(first, second);
  breed_from(order, survivors(), first, second);
}

// The infeasible come in fronts of their own, and are taken as the pool has them.
std::vector<individual> nsga3::select() const {
  const auto all = pool();
  std::vector<fitness> fitnesses;
  for (const auto& i : all)
    fitnesses.push_back(i.fitness);
  const auto fronts = sort_into_fronts(fitnesses);
  std::vector<std::size_t> selected, last;
  for (const auto& front : fronts) {
    if (selected.size() + front.size() > surviving()) {
      last = front;
      break;
    }
    selected.insert(selected.end(), front.begin(), front.end());
  }
  const auto room = surviving() - selected.size();
  const bool feasible = !last.empty() && fitnesses[last.front()].ok
                        && fitnesses[last.front()].violation == 0;
  if (feasible && room > 0) {
    const auto costs = costs_below(ideal(all), fitnesses);
    auto random = derive(seed(), purpose::niches, generation(), 0);
    last = fill({costs, fronts.front(), selected, last, surviving()}, random);
  }
  last.resize(std::min(last.size(), room));
  selected.insert(selected.end(), last.begin(), last.end());
  std::vector<individual> survivors;
  for (const auto i : selected)
    survivors.push_back(all[i]);
  return survivors;
}

} // namespace clade
