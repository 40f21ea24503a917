#pragma once

#include "engine/training/weights/weights.hpp"
#include "genome/base/random.hpp"
#include "search_spaces/operators/network.hpp"

#include <functional>
#include <string_view>
#include <vector>

namespace clade {

/// The weights of a network before any training, named "layer.role", without LibTorch: for
/// the same streams the same bits as those of a `network_module`
/// (search_spaces/operators/tensors.hpp says how they are drawn). `stream_of` gives each
/// layer, by its name, what to draw from. The edges of "piecewise" are those that no
/// examples have changed.
[[nodiscard]] std::vector<weight_tensor>
initial_weights(const network& n,
                const std::function<random_stream(std::string_view layer)>& stream_of);

} // namespace clade
