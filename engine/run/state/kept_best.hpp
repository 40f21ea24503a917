#pragma once

#include "engine/run/state/final_stage.hpp"

#include <algorithm>
#include <vector>

namespace clade {

/// Keeps the fittest, best first, at most as many as a final stage can train, and each
/// network once: of those that are the `same` the fitter one, of equals the first. A run's
/// state and its picture keep what they have by this rule, so that they agree.
template<class One, class Fitter, class Same>
void keep_best(std::vector<One>& best, const One& one, Fitter fitter, Same same) {
  const auto known =
      std::ranges::find_if(best, [&](const One& b) { return same(b, one); });
  if (known != best.end() && fitter(*known, one))
    return;
  if (known != best.end())
    best.erase(known);
  best.insert(std::upper_bound(best.begin(), best.end(), one, fitter), one);
  if (best.size() > most_final_genomes)
    best.pop_back();
}

} // namespace clade
