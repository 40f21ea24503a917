#pragma once

#include "engine/data/learning_task.hpp"
#include "engine/training/class_metrics.hpp"
#include "engine/training/value_metrics.hpp"

#include <string_view>

namespace clade {

// The standard error of a metric, as another sample of as many examples would give it.
// For shares of examples (accuracy, top_k) it is the binomial distribution's, with the
// share (right + 1) / (n + 2), so that all right does not mean certain (Agresti and
// Coull, 1998); for other metrics the deviation over up to 100 bootstrap samples, drawn
// by a fixed key. Metrics are those of `measure` (metrics.hpp); 0 of fewer than two
// examples.

[[nodiscard]] double sampling_error(const learning_task& task, std::string_view metric,
                                    const class_predictions& p);
[[nodiscard]] double sampling_error(const learning_task& task, std::string_view metric,
                                    const value_predictions& p);

} // namespace clade
