#pragma once

#include "engine/search/core/candidate.hpp"
#include "engine/training/device_data.hpp"

namespace clade {

/// Returns the data whose training part is that of the fold (`data_fold`) and whose
/// validation part is what it leaves out; those of a fold of 1 or 0 are as they were. The
/// examples of the validation part are dealt by the run's seed, class by class, so that a
/// class of as many examples as there are folds is in each of them.
[[nodiscard]] device_data data_of_fold(const device_data& data, const data_fold& fold,
                                       std::uint64_t seed);

} // namespace clade
