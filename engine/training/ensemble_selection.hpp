#pragma once

#include "engine/data/learning_task.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace clade {

/// What a model said of the validation part, as far as its loss depends on it: for each
/// example the probability of its class, or for each output of each example the error, in
/// standard deviations. What an ensemble says is the weighed mean of its members.
using validation_answers = std::vector<double>;

/// The mean negative logarithm of the probabilities, none taken for below 1e-12, or the
/// mean squared error.
[[nodiscard]] double loss_of_answers(std::span<const double> answers, loss_kind kind);

/// Chooses an ensemble greedily and with replacement (Caruana et al., "Ensemble selection
/// from libraries of models", ICML 2004): the best model first, then at each of `rounds`
/// the one with which the loss of the mean is lowest; of all these ensembles the best, the
/// smallest of equals. Returns how often each model is in it; all have as many answers.
[[nodiscard]] std::vector<std::uint32_t>
select_ensemble(std::span<const validation_answers> models, loss_kind kind,
                std::uint32_t rounds = 50);

/// The temperature in [0.2, 5] by which probabilities [examples, classes] have the lowest
/// mean negative log likelihood of `labels` (Guo et al., "On calibration of modern neural
/// networks", ICML 2017).
[[nodiscard]] double fit_temperature(std::span<const float> probabilities,
                                     std::span<const std::int64_t> labels);

} // namespace clade
