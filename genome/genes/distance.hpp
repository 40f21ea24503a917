#pragma once

#include "genome/genes/genome.hpp"

namespace clade {

/// How unlike two genomes are, 0 for equal ones, at most 1: the share of genes that only
/// one of them has, plus the settings in which common genes differ, over all that was
/// compared (the compatibility distance of NEAT, normalised). Symmetric.
[[nodiscard]] double distance(const genome& a, const genome& b);

} // namespace clade
