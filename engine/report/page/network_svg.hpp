#pragma once

#include "engine/report/base/node_costs.hpp"

#include <string>

namespace clade {

/// The network that a genome makes, drawn from top to bottom: a box for each live node
/// with its operator and settings, and its shape and parameters where `costs` has them; a
/// line for each enabled edge, in layers (Sugiyama, Tagawa and Toda, 1981): the longest
/// way from the input decides the layer, lines that skip layers pass between boxes, and
/// each layer is ordered by the middle of what leads to it. Empty if there are more nodes
/// than can be read.
[[nodiscard]] std::string network_svg(const genome& g, const node_costs& costs = {});

} // namespace clade
