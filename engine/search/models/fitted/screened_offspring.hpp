#pragma once

#include "engine/search/core/breeding.hpp"
#include "engine/search/models/base/genome_features.hpp"
#include "engine/search/models/fitted/screening.hpp"

#include <functional>
#include <set>
#include <span>

namespace clade {

/// Given the children that promise the most, the most promising first, it returns the
/// place of one.
using second_look = std::function<std::size_t(std::span<const genome> children)>;

/// Carries out an order of kind `propose` by screening children of its parents
/// (screening.hpp), and says how the chosen one came about and of which of them: the most
/// promising one, or, where there is a second look, what it chooses of so many.
/// A genome that is `taken` (by canonical hash) is asked for only if nothing else comes
/// up.
[[nodiscard]] offspring
screened_offspring(const promise_function& promise, const genome_features& features,
                   const std::set<genome_hash>& taken, const breeding_rules& rules,
                   const breeding& order, const screening_params& params = {},
                   std::size_t looked_at = 1, const second_look& look = {});

} // namespace clade
