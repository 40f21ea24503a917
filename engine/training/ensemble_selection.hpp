#pragma once

#include "engine/data/learning_task.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace clade {

/// The answers of a model on the validation part, as far as its loss depends on them: for
/// each example the probability of its class, or for each output of each example the error,
/// in standard deviations. An ensemble answers with the weighed mean of its members.
using validation_answers = std::vector<double>;

/// Chooses an ensemble greedily and with replacement (Caruana et al., "Ensemble selection
/// from libraries of models", ICML 2004): the best model first, then at each of `rounds`
/// the one with which the loss of the mean is lowest, the mean negative logarithm of
/// probabilities or the mean squared error; of all these ensembles the best, the
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
