#pragma once

#include "engine/evolution/genome_features.hpp"
#include "engine/evolution/screening.hpp"
#include "engine/evolution/strategy.hpp"

#include <set>

namespace clade {

/// Carries out an order of kind `propose` by screening children of its parents with a
/// model (screening.hpp), and says how the chosen one came about and of which of them.
/// What is `taken` (by canonical hash) is asked for only where nothing else comes up.
[[nodiscard]] offspring screened_child(const judgement& model,
                                       const genome_features& features,
                                       const std::set<genome_hash>& taken,
                                       const breeding_rules& rules,
                                       const breeding& order);

} // namespace clade
