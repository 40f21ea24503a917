#pragma once

#include "engine/run/records/test_details.hpp"
#include "engine/training/metrics/class_metrics.hpp"

namespace clade {

/// Returns the curve of reliability of finite scores, and the expected calibration error.
[[nodiscard]] reliability reliability_of(const class_predictions& p);

} // namespace clade
