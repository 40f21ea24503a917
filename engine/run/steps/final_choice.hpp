#pragma once

#include "engine/search/core/candidate.hpp"

#include <optional>
#include <span>

namespace clade {

/// Returns the objective without the aims and constraints that `e` has no finite metric
/// of; where no aim is left, a lower validation.loss.
[[nodiscard]] objective measurable_part(const objective& goal, const evaluation& e);

/// Returns whether model `a` is behind model `b`, both measured on the same examples: it
/// misses the constraints by more, or by as much and has less of the first aim, or no more
/// of any aim and less of one. This is a strict order: no model is behind itself, and of
/// several there is always one that is behind none.
[[nodiscard]] bool is_behind(const evaluation& a, const evaluation& b,
                             const objective& goal);

/// Returns the index of the best of the models by the order of fitness, which is behind
/// none of them; of equals the first. None where no model has the metrics of the
/// objective.
[[nodiscard]] std::optional<std::size_t> best_model(std::span<const evaluation> models,
                                                    const objective& goal);

/// A final model is never behind a single model that the run holds. Returns the index of
/// the best of those that `chosen` is behind; none: it may stay.
[[nodiscard]] std::optional<std::size_t> best_ahead(const evaluation& chosen,
                                                    std::span<const evaluation> singles,
                                                    const objective& goal);

} // namespace clade
