#pragma once

#include "engine/search/core/candidate.hpp"

#include <filesystem>

namespace clade {

/// Reads the event files of TensorBoard in `folder` and below into the evaluation's
/// metrics: the value of each scalar's latest step, named by its tag. No scalars make it
/// invalid; one that is not finite, diverged. Total: any bytes are read or passed over.
void read_events(const std::filesystem::path& folder, evaluation& e);

} // namespace clade
