#pragma once

#include "engine/program/lower/weight_tensor.hpp"
#include "genome/codec/codec.hpp"

#include <span>
#include <vector>

namespace clade {

/// The stored form, with a checksum (grammar at the top of weights.cpp).
[[nodiscard]] bytes encode_weights(std::span<const weight_tensor> tensors);

/// Total: any bytes give the tensors that were encoded, or an error of kind corrupt.
[[nodiscard]] expected<std::vector<weight_tensor>>
decode_weights(std::span<const char> data);

} // namespace clade
