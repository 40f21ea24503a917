#pragma once

#include "engine/search/core/candidate.hpp"

#include <optional>

namespace clade {

/// Errors are taken to fall with the time of training as time^-exponent (Hestness et al.,
/// "Deep Learning Scaling is Predictable, Empirically", arXiv 1712.00409, 2017). A training
/// whose curve is too short to tell has the exponent that networks have in their first
/// epochs.
inline constexpr double usual_learning_exponent = 0.3;
/// The seeds of a space were proven in long trainings: they are expected to learn faster
/// while their curves are as short.
inline constexpr double proven_learning_exponent = 0.4;

/// Returns how fast a training learnt; `seed`: its genome is a seed of the space.
///
/// The error is the distance of the first aim to the best value there can be: of a metric
/// that is lowered, such as a loss, the metric itself, and of one that is raised, such as
/// accuracy, what it lacks to 1. There is none where that has no meaning.
///
/// The exponent is that with which the error of the best epoch so far fell, and one of the
/// two above where there were fewer than three epochs; 0 where the metric has no error. It
/// is the less, at most, the more epochs there were: errors fall fast at first, and as the
/// rates do.
[[nodiscard]] learning_speed speed_of(const evaluation& e, const objective& goal,
                                      bool seed);

/// Returns the error expected of a genome if it is trained for so many seconds; none where
/// it has no error.
[[nodiscard]] std::optional<double> expected_error(const learning_speed& speed,
                                                   double seconds);

} // namespace clade
