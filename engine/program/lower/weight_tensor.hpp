#pragma once

#include <cstdint>
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

} // namespace clade
