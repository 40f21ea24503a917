#pragma once

#include "engine/data/columns/examples.hpp"

#include <string_view>

namespace clade {

/// Reads a batch of CIFAR-10 or CIFAR-100 in the binary version: images of [3, 32, 32]
/// with their labels. `params.target` is "last" (the class; of CIFAR-100 the fine one) or
/// the number of a label ("1": the coarse one). Several batches are one file if they are
/// put one behind the other.
[[nodiscard]] expected<examples>
parse_cifar(std::string_view bytes, std::string_view origin, const data_params& params);

} // namespace clade
