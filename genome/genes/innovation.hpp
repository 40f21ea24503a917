#pragma once

#include "genome/genes/genome.hpp"

namespace clade {

/// The number of the node that splits this edge, one that `g` does not use yet: splitting
/// the same edge a second time gives the next number in that edge's own series.
[[nodiscard]] innovation innovation_of_split(const genome& g, innovation edge);

/// The number of the edge between two nodes that has this delay.
[[nodiscard]] innovation innovation_of_edge(innovation from, innovation to,
                                            std::uint32_t delay = 0);

} // namespace clade
