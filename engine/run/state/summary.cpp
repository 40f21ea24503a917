#include "engine/run/state/summary.hpp"

#include "engine/search/core/selection.hpp"

#include <algorithm>
#include <cmath>

namespace clade {

double quantile(const std::vector<double>& sorted, double share) {
  const auto place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const auto above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - std::floor(place)) * (sorted[above] - sorted[below]);
}

generation_summary summarise(std::uint64_t generation, std::vector<individual> evaluated,
                             const objective& goal) {
  generation_summary s;
  s.generation = generation;
  sort_by_fitness(evaluated);
  std::vector<double> values;
  for (const auto& i : evaluated)
    if (i.fitness.ok)
      values.push_back(goal.maximize ? i.fitness.primary : -i.fitness.primary);
  s.succeeded = values.size();
  s.failed = evaluated.size() - values.size();
  if (values.empty())
    return s;
  s.best = evaluated.front().id;
  s.best_fitness = values.front();
  std::sort(values.begin(), values.end());
  s.lower_quartile = quantile(values, 0.25);
  s.median_fitness = quantile(values, 0.5);
  s.upper_quartile = quantile(values, 0.75);
  return s;
}

std::vector<individual> take_generation(std::vector<individual>& evaluated,
                                        std::size_t population, bool by_id) {
  if (by_id)
    std::sort(evaluated.begin(), evaluated.end(),
              [](const auto& a, const auto& b) { return a.id < b.id; });
  const auto size = std::min(population, evaluated.size());
  const auto end = evaluated.begin() + static_cast<std::ptrdiff_t>(size);
  std::vector<individual> taken(evaluated.begin(), end);
  evaluated.erase(evaluated.begin(), end);
  return taken;
}

} // namespace clade
