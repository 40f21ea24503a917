#pragma once

#include "search_spaces/operators/network.hpp"
#include "search_spaces/operators/search_space.hpp"

namespace clade {

/// A search space of dense networks with every kind of parameter in it: real,
/// logarithmic, whole, choices ordered and not, one that applies under a condition, and
/// merges. Written out here so that nothing but this file decides what the signature is
/// taken of.
[[nodiscard]] search_space small_space();

/// 16 features, 4 classes.
[[nodiscard]] problem small_problem();

} // namespace clade
