#include "engine/search/core/selection.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace clade {

void sort_by_fitness(std::vector<individual>& population) {
  std::sort(population.begin(), population.end(), fitter);
}

void sort_by_use(std::vector<individual>& population) {
  sort_by_fitness(population);
  const auto failed = std::find_if(population.begin(), population.end(),
                                   [](const auto& i) { return !i.fitness.ok; });
  if (failed != population.begin())
    population.erase(failed, population.end());
}

double weights_threshold(const std::vector<individual>& best, std::size_t kept) {
  if (best.size() < kept || best.back().fitness.violation > 0)
    return -std::numeric_limits<double>::infinity();
  return std::nextafter(best.back().fitness.primary,
                        -std::numeric_limits<double>::infinity());
}

std::size_t tournament(std::size_t population, std::size_t size, random_stream& random) {
  auto best = random.below(population);
  for (std::size_t i = 1; i < size; ++i)
    best = std::min(best, random.below(population));
  return best;
}

std::size_t truncation(std::size_t population, double share, random_stream& random) {
  const auto breeding = std::ceil(share * static_cast<double>(population));
  return random.below(
      std::clamp<std::size_t>(static_cast<std::size_t>(breeding), 1, population));
}

} // namespace clade
