#pragma once

#include "engine/data/reading/data_set.hpp"
#include "engine/run/records/test_details.hpp"

#include <string>
#include <vector>

namespace clade {

/// Returns the texts of the examples that were most wrong, in the order of the evidence, as
/// the data's file has them, long ones cut off: empty ones for those that it does not have,
/// and none at all where examples have no columns of texts. Reads the file again.
[[nodiscard]] std::vector<std::string>
wrong_texts(const data_params& params, std::uint64_t seed, const test_evidence& evidence);

/// Returns the channels of the series that were most wrong, as networks saw them: by example
/// at most so many channels of at most so many steps, evenly chosen; no channels of those
/// that the data does not have. None at all where examples are no series.
[[nodiscard]] std::vector<std::vector<std::vector<float>>>
wrong_series(const data_set& data, const test_evidence& evidence,
             std::size_t most_channels = 3, std::size_t most_steps = 120);

} // namespace clade
