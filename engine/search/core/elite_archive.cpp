#include "engine/search/core/elite_archive.hpp"

#include "engine/search/core/selection.hpp"

#include <algorithm>
#include <bit>

namespace clade {

niche niche_of(const individual& i) {
  return {.size = static_cast<std::uint32_t>(std::bit_width(i.parameters)),
          .depth = static_cast<std::uint32_t>(topological_order(*i.genome).size() - 2)};
}

bool elite_archive::add(const individual& i) {
  if (!i.fitness.ok)
    return false;
  const auto where = niche_of(i);
  const auto found = std::ranges::lower_bound(elites_, where, {}, &elite::where);
  if (found == elites_.end() || found->where != where) {
    elites_.insert(found, {.where = where, .fittest = i});
    return true;
  }
  if (!fitter(i, found->fittest))
    return false;
  found->fittest = i;
  return true;
}

std::vector<individual> elite_archive::best_first() const {
  std::vector<individual> all;
  for (const auto& e : elites_)
    all.push_back(e.fittest);
  sort_by_fitness(all);
  return all;
}

} // namespace clade
