#pragma once

#include "genome/genes/grammar.hpp"

namespace clade {

/// Crosses two genomes as NEAT does (Stanley and Miikkulainen, 2002): the child has the
/// structure of the fitter parent; genes that both have (same innovation) come with the
/// settings of either, by an even chance each; hyperparameters likewise, then repaired.
/// The child obeys `check(rules, child)` if both parents do.
[[nodiscard]] genome cross(const grammar& rules, const genome& fitter,
                           const genome& other, random_stream& random);

} // namespace clade
