#pragma once

#include "engine/search/core/candidate.hpp"

#include <functional>
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

/// Returns the standard error of the difference in the first aim between what was chosen
/// and the single model of that index; 0: the difference is exact.
using difference_errors = std::function<double(std::size_t)>;

[[nodiscard]] double no_error(std::size_t single);

/// A final model is not behind a single model that the run holds by more than the few
/// examples that measured both can tell: by constraints and further aims not at all, and by
/// less than two standard errors of the difference in the first aim. Returns the index of
/// the best of those that `chosen` is behind by more; none: it may stay.
[[nodiscard]] std::optional<std::size_t>
best_ahead(const evaluation& chosen, std::span<const evaluation> singles,
           const objective& goal, const difference_errors& error_of = no_error);

} // namespace clade
