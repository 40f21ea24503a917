#include "engine/run/steps/final_choice.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

namespace clade {

namespace {

bool has(const evaluation& e, const std::string& metric) {
  const auto found = measured(e, metric);
  return found && std::isfinite(*found);
}

bool behind(const fitness& a, const fitness& b) {
  if (a.ok != b.ok)
    return b.ok;
  if (a.violation != b.violation)
    return a.violation > b.violation;
  if (a.primary != b.primary)
    return a.primary < b.primary;
  bool less = false;
  for (std::size_t i = 0; i < a.objectives.size(); ++i) {
    if (a.objectives[i] > b.objectives[i])
      return false;
    less = less || a.objectives[i] < b.objectives[i];
  }
  return less;
}

} // namespace

objective measurable_part(const objective& goal, const evaluation& e) {
  objective part{.metric = "validation.loss", .maximize = false};
  bool first = true;
  for (const auto& a : aims_of(goal)) {
    if (!has(e, a.metric))
      continue;
    if (std::exchange(first, false)) {
      part.metric = a.metric;
      part.maximize = a.maximize;
    } else {
      part.others.push_back(a);
    }
  }
  std::ranges::copy_if(goal.constraints, std::back_inserter(part.constraints),
                       [&](const constraint& c) { return has(e, c.metric); });
  return part;
}

bool is_behind(const evaluation& a, const evaluation& b, const objective& goal) {
  return behind(fitness_of(a, goal), fitness_of(b, goal));
}

std::optional<std::size_t> best_model(std::span<const evaluation> models,
                                      const objective& goal) {
  std::vector<individual> all;
  for (std::size_t i = 0; i < models.size(); ++i)
    all.push_back({.id = i, .fitness = fitness_of(models[i], goal)});
  const auto best = std::ranges::min_element(all, fitter);
  if (best == all.end() || !best->fitness.ok)
    return std::nullopt;
  // Ties of the first aim go to the lower loss, which may have less of another aim.
  auto found = best->id;
  for (const auto& one : all)
    if (behind(all[found].fitness, one.fitness))
      found = one.id;
  return found;
}

double no_error(std::size_t) {
  return 0;
}

std::optional<std::size_t> best_ahead(const evaluation& chosen,
                                      std::span<const evaluation> singles,
                                      const objective& goal,
                                      const difference_errors& error_of) {
  constexpr double certain = 2;
  const auto f = fitness_of(chosen, goal);
  std::vector<std::size_t> ahead;
  std::vector<evaluation> those;
  for (std::size_t i = 0; i < singles.size(); ++i) {
    const auto g = fitness_of(singles[i], goal);
    if (!behind(f, g))
      continue;
    const double by = g.primary - f.primary;
    if (f.ok && f.violation == g.violation && by > 0 && !(by > certain * error_of(i)))
      continue;
    ahead.push_back(i);
    those.push_back(singles[i]);
  }
  const auto best = best_model(those, goal);
  return best ? std::optional(ahead[*best]) : std::nullopt;
}

} // namespace clade
