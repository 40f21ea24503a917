#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// The meaning of the sizes of a shape.
enum class layout : std::uint8_t {
  vector,   ///< [features]
  sequence, ///< [steps, features]
  image     ///< [channels, height, width]
};

/// The layouts of which there are networks.
inline constexpr std::array known_layouts{layout::image, layout::vector,
                                          layout::sequence};

/// "vector", "sequence", "image"
[[nodiscard]] std::string_view to_text(layout l);

/// The sizes that shapes of the layout have, in words: "[channels, height, width]".
[[nodiscard]] std::string_view sizes_text(layout l);

/// The shape of one example, without the batch. The number of sizes says its layout.
struct tensor_shape {
  std::vector<std::int64_t> sizes;

  [[nodiscard]] std::int64_t elements() const;
  /// Channels of an image, features of a vector or of each step of a sequence. There is
  /// a size at least.
  [[nodiscard]] std::int64_t units() const { return sizes.at(units_at()); }
  /// Returns this shape with so many channels or features.
  [[nodiscard]] tensor_shape with_units(std::int64_t n) const;
  /// None where there are no sizes, or more than three.
  [[nodiscard]] std::optional<clade::layout> layout() const;

  friend bool operator==(const tensor_shape&, const tensor_shape&) = default;

private:
  [[nodiscard]] std::size_t units_at() const { return sizes.size() == 2 ? 1 : 0; }
};

/// "8x8x1" is written as it is in files: "[1, 8, 8]".
[[nodiscard]] std::string to_text(const tensor_shape& s);

} // namespace clade
