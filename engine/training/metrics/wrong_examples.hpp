#pragma once

#include "engine/run/records/test_details.hpp"
#include "engine/training/metrics/class_metrics.hpp"
#include "engine/training/metrics/value_metrics.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace clade {

// Both return at most `test_evidence::most_wrong_examples` of the examples that were
// predicted wrongly, those with the highest loss first; of equal ones the first example.
// `places` tells where each example stands in its file.

/// The loss of an example is the higher, the less probable its own class was thought.
/// `files` are those of the examples, or empty.
[[nodiscard]] std::vector<misclassified>
most_wrong(const class_predictions& p, std::span<const std::uint64_t> places,
           std::span<const std::string> files = {});

/// The loss of an example is the distance between what was said and what it is. `shown` are
/// the same examples in the unit in which they are returned.
[[nodiscard]] std::vector<missed_value> most_wrong(const value_predictions& p,
                                                   std::span<const std::uint64_t> places,
                                                   const value_predictions& shown);

} // namespace clade
