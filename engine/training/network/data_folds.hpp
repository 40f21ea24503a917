#pragma once

#include "engine/search/core/candidate.hpp"
#include "engine/training/network/device_data.hpp"

namespace clade {

/// With fewer examples to train and to validate with, folds are dealt from both parts. A
/// slice of the validation part alone would be so small that the epoch of its lowest loss
/// is one of chance, and it would be judged too well.
inline constexpr std::int64_t few_examples = 5'000;

/// Returns whether the folds of these data are dealt from both parts: there are few, and
/// chance alone made the parts. Then each of their examples can be judged by a model that was
/// trained without it.
[[nodiscard]] bool folds_are_of_both(const device_data& data);

/// Returns the examples of the train and of the validation part, in this order.
[[nodiscard]] at::Tensor both_parts(const device_data& data);

/// Returns the data with as many examples of each part as take at most so many bytes as
/// numbers of 32 bits, in even steps: for models that need all of them at once.
[[nodiscard]] device_data data_within(const device_data& data, std::int64_t most_bytes);

/// Returns the data whose training part is that of the fold (`data_fold`) and whose
/// validation part is what it leaves out; those of a fold of 1 or 0 are as they were. The
/// examples of the validation part, and of few those of the training part too, are dealt
/// by the run's seed, class by class, so that a class of as many examples as there are
/// folds is in each of them.
[[nodiscard]] device_data data_of_fold(const device_data& data, const data_fold& fold,
                                       std::uint64_t seed);

} // namespace clade
