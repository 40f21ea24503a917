#pragma once

#include "genome/genes/genome.hpp"

namespace clade {

/// Reads a genome of layers as `to_text` prints it: a line for each layer, those before it
/// first, then the hyperparameters. Settings may be left out, and lines may be indented. A
/// chain's nodes get the innovations that `chain_genome` gives them. The line that is
/// wrong is in the error, "line 3: ...", from 1; operators and settings are not judged.
[[nodiscard]] expected<genome> parse_genome(std::string_view text);

} // namespace clade
