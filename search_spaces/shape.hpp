#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace clade {

/// The shape of one example, without the batch: {channels, height, width} or {features}.
struct tensor_shape {
  std::vector<std::int64_t> sizes;

  [[nodiscard]] std::int64_t elements() const;
  [[nodiscard]] bool is_image() const { return sizes.size() == 3; }

  friend bool operator==(const tensor_shape&, const tensor_shape&) = default;
};

/// "8x8x1" is written as it is in files: "[1, 8, 8]".
[[nodiscard]] std::string to_text(const tensor_shape& s);

} // namespace clade
