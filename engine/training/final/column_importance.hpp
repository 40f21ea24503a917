#pragma once

#include "engine/run/records/test_details.hpp"
#include "engine/training/network/device_data.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <vector>

namespace clade {

/// Returns what a model says, probabilities or standardised values, of examples whose
/// features [examples, inputs] are not, or not all, those of the data. It also gets their
/// indices, by which a model with folds knows which of them was trained without an
/// example.
using asked_model = std::function<at::Tensor(const at::Tensor&, const at::Tensor&)>;

/// Measures answers of `asked_model` for these examples, the lower the better.
using answers_measure = std::function<double(const at::Tensor&, const at::Tensor&)>;

/// Deals the values of each column anew among up to 2,000 examples of the validation part,
/// which the seed draws, up to ten times, and measures how much worse the model is then;
/// `metric` is the name of what `measure` returns. The columns are sorted, the most
/// important first. None if there is no time for three times, or fewer than two examples;
/// if time is short, fewer examples are asked. LibTorch's exceptions pass through.
[[nodiscard]] std::optional<column_importances>
importance_of_columns(const device_data& data, const asked_model& says,
                      const answers_measure& measure, std::string metric,
                      std::uint64_t seed, std::chrono::steady_clock::time_point deadline);

} // namespace clade
