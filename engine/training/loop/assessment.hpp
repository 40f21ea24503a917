#pragma once

#include "engine/run/records/test_details.hpp"
#include "engine/training/metrics/metrics.hpp"
#include "engine/training/network/device_data.hpp"

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

/// Returns the standard error of the difference between two models in a metric
/// ("accuracy") of a part, by what they say of it, [part, outputs] (sampling_error.hpp).
[[nodiscard]] double difference_error(const device_data& data, const at::Tensor& part,
                                      const at::Tensor& a, const at::Tensor& b,
                                      std::string_view metric);

/// Returns how long the model takes for one example, from the device's memory to the result
/// in the machine's: the median of some passes after some that warm up.
[[nodiscard]] double latency_milliseconds(const model& predict, const device_data& data);

/// Returns what the test of a model tells beside its metrics. Only finite numbers are in
/// it.
[[nodiscard]] test_details details_of(const model& predict, const device_data& data);

/// Returns the same with the standard error, and the interval on the test part, of the
/// metric `judged_by` ("validation.accuracy"), and the most wrong test examples. The seed
/// draws the resamples.
[[nodiscard]] test_details details_of(const model& predict, const device_data& data,
                                      std::string_view judged_by, std::uint64_t seed);

} // namespace clade
