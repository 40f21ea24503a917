#pragma once

#include "engine/data/columns/learning_task.hpp"
#include "engine/run/records/test_details.hpp"
#include "engine/training/metrics/class_metrics.hpp"
#include "engine/training/metrics/several_metrics.hpp"
#include "engine/training/metrics/value_metrics.hpp"

#include <cstdint>
#include <optional>
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
[[nodiscard]] double sampling_error(const learning_task& task, std::string_view metric,
                                    const several_predictions& p);

// The standard error of the difference between two models in a metric, both asked of the
// same examples in the same order, from up to 100 bootstrap samples. That of shares of
// examples counts one example more, on which one of them alone is right, so that no error
// does not mean certain. Infinite of fewer than two examples.

[[nodiscard]] double difference_error(const learning_task& task, std::string_view metric,
                                      const class_predictions& a,
                                      const class_predictions& b);
[[nodiscard]] double difference_error(const learning_task& task, std::string_view metric,
                                      const value_predictions& a,
                                      const value_predictions& b);
[[nodiscard]] double difference_error(const learning_task& task, std::string_view metric,
                                      const several_predictions& a,
                                      const several_predictions& b);

/// Returns the 95 % interval of a metric of `measure`, which may be any, from 1,000
/// resamples drawn by the seed; of very many examples from fewer, 100 at least. Two models
/// of the same examples are measured on the same resamples. None of fewer than two
/// examples, where all resamples agree, and where there is no such metric.
[[nodiscard]] std::optional<metric_interval>
bootstrap_interval(const learning_task& task, std::string_view metric,
                   const class_predictions& p, std::uint64_t seed);
[[nodiscard]] std::optional<metric_interval>
bootstrap_interval(const learning_task& task, std::string_view metric,
                   const value_predictions& p, std::uint64_t seed);
[[nodiscard]] std::optional<metric_interval>
bootstrap_interval(const learning_task& task, std::string_view metric,
                   const several_predictions& p, std::uint64_t seed);

} // namespace clade
