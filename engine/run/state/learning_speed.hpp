#pragma once

#include "engine/search/core/candidate.hpp"

#include <optional>

namespace clade {

/// Errors are taken to fall with the time of training as time^-exponent (Hestness et al.,
/// "Deep Learning Scaling is Predictable, Empirically", arXiv 1712.00409, 2017). A training
/// whose curve is too short to tell has the exponent that networks have in their first
/// epochs.
inline constexpr double usual_learning_exponent = 0.3;
/// The exponent of those that were proven in long trainings, the seeds of the space, while
/// their curves are as short.
inline constexpr double proven_learning_exponent = 0.4;

/// Returns the distance of the first aim to the best value there can be: of a metric that is
/// lowered, such as a loss, the metric itself, and of one that is raised, such as accuracy,
/// what it lacks to 1. None where that has no meaning.
[[nodiscard]] std::optional<double> error_of(const evaluation& e, const objective& goal);

/// Returns the exponent with which the error of a training's best epoch so far fell:
/// `usual_learning_exponent` where it had fewer than three epochs, and 0 where its metric
/// has no error. It is the less, at most, the more epochs there were: errors fall fast at
/// first, and as the rates do.
[[nodiscard]] double learning_exponent(const evaluation& e, const objective& goal);

/// Returns the error expected of the genome if it is trained for so many seconds; none
/// where it has no error.
[[nodiscard]] std::optional<double> expected_error(const individual& of, double seconds);

} // namespace clade
