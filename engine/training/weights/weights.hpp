#pragma once

#include "genome/codec/codec.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace clade {

/// One tensor of a trained network, by the layer's name and its role: "n3f2a1.weight".
struct weight_tensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<float> values; ///< Row-major.

  friend bool operator==(const weight_tensor&, const weight_tensor&) = default;
};

/// The stored form, with a checksum (grammar at the top of weights.cpp).
[[nodiscard]] bytes encode_weights(std::span<const weight_tensor> tensors);

/// Total: any bytes give the tensors that were encoded, or an error of kind corrupt.
[[nodiscard]] expected<std::vector<weight_tensor>>
decode_weights(std::span<const char> data);

} // namespace clade
