#pragma once

#include "engine/data/columns/learning_task.hpp"
#include "engine/search/core/candidate.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace clade {

/// The answers of a model on the validation part, as far as its loss depends on them: for
/// each example the probability of its class, or for each output of each example the error,
/// in standard deviations, or the log-odds of what is true of the label. An ensemble
/// answers with the weighed mean of its members.
using validation_answers = std::vector<double>;

/// The loss of answers.
struct answer_loss {
  answer_loss(loss_kind of_kind) : kind(of_kind) {} // NOLINT(google-explicit-constructor)

  loss_kind kind;
  std::span<const target_scale> scales{}; ///< By output; for quantiles alone.

  /// The loss of the answer at that place.
  [[nodiscard]] double of(double answer, std::size_t place) const;
};

/// Chooses an ensemble greedily and with replacement (Caruana et al., "Ensemble selection
/// from libraries of models", ICML 2004): the best model first, then at each of `rounds`
/// the one with which the loss of the mean is lowest, the mean negative logarithm of
/// probabilities, the mean squared error, binary cross-entropy or pinball loss; of all these
/// ensembles the best, the smallest of equals. Returns how often each model is in it; all
/// have as many answers.
[[nodiscard]] std::vector<std::uint32_t>
select_ensemble(std::span<const validation_answers> models, const answer_loss& loss,
                std::uint32_t rounds = 50);

/// Chooses such an ensemble for each of 20 samples of the examples, drawn with replacement
/// by the seed, and returns the mean of their shares in 50 parts (bagged selection, in the
/// same paper): one that few examples prefer by chance is not in most of them. If there are
/// 5,000 examples and more, it is the ensemble of all of them.
[[nodiscard]] std::vector<std::uint32_t>
select_from_samples(std::span<const validation_answers> models, const answer_loss& loss,
                    std::uint64_t seed);

/// Returns the metrics on the validation part of the ensemble that has each model so often;
/// none where there is no time for it.
using ensemble_measure =
    std::function<std::optional<evaluation>(std::span<const std::uint32_t>)>;

/// Chooses an ensemble by the run's own objective: model `first` alone, then at each of
/// `rounds` with the model with which it is fittest, as long as it is then fitter. The
/// ensemble is never behind `first` (engine/run/steps/final_choice.hpp). Returns how
/// often each of so many models is in it.
[[nodiscard]] std::vector<std::uint32_t>
grow_ensemble(std::size_t models, std::size_t first, const objective& goal,
              const ensemble_measure& measure, std::uint32_t rounds = 10);

/// Returns the mean negative log likelihood that labels are expected to have beyond these:
/// each label counts as (n + 1) / (n + 2), as one of n examples more would be wrong, and
/// the other classes share the rest (Platt, "Probabilistic outputs for support vector
/// machines", 1999). Probabilities are [examples, classes] and are raised to the power of
/// 1 / `temperature` first.
[[nodiscard]] double expected_loss(std::span<const float> probabilities,
                                   std::span<const std::int64_t> labels,
                                   double temperature);

/// Returns the least probability of a class that so many examples allow: above
/// 1 / (examples + 2), which is what a class has that none of them shows (Laplace's rule of
/// succession), and by so much that rounding in 32 bits does not get it below. If that
/// would be half of all, it is half of an equal share.
[[nodiscard]] double least_probability_of(std::size_t examples, std::size_t classes);

/// Returns the temperature in [0.2, 5] by which probabilities [examples, classes] have the
/// lowest expected loss (Guo et al., "On calibration of modern neural networks", ICML
/// 2017), drawn towards 1 as far as that lowers the expected loss of examples that it is
/// not fitted to. It is 1 where no other temperature does.
[[nodiscard]] double fit_temperature(std::span<const float> probabilities,
                                     std::span<const std::int64_t> labels);

} // namespace clade
