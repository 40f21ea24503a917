#pragma once

#include "engine/run/test_details.hpp"
#include "engine/training/device_data.hpp"
#include "engine/training/metrics.hpp"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// Examples to predictions: scores of classes, or standardised targets.
using model = std::function<at::Tensor(const at::Tensor&)>;

/// Returns what the model says of the examples of a part, [examples, outputs], computed in
/// batches and without gradients.
[[nodiscard]] at::Tensor outputs_of(const model& predict, const device_data& data,
                                    const at::Tensor& part);

/// The metrics of `part_metrics`, rmse in the target's own unit, and those named by
/// `also` (metrics.hpp); each after `prefix` ("validation."), sorted by name. The loss is
/// that of training without smoothing and class weights and, for numbers, in standard
/// deviations.
[[nodiscard]] std::vector<metric> assess(const model& predict, const device_data& data,
                                         const at::Tensor& part, std::string_view prefix,
                                         std::span<const std::string> also = {});

/// What the test of a model tells beside its metrics. `judged_by` is the metric of an
/// epoch ("validation.accuracy") whose standard error is given. Only finite numbers are
/// in it.
[[nodiscard]] test_details details_of(const model& predict, const device_data& data,
                                      std::string_view judged_by);

} // namespace clade
