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

/// The layouts of which there are networks. Sequences are none of them yet.
inline constexpr std::array known_layouts{layout::image, layout::vector};

/// "vector", "sequence", "image"
[[nodiscard]] std::string_view to_text(layout l);

/// The sizes that shapes of the layout have, in words: "[channels, height, width]".
[[nodiscard]] std::string_view sizes_text(layout l);

/// The shape of one example, without the batch. The number of sizes says its layout.
struct tensor_shape {
  std::vector<std::int64_t> sizes;

  [[nodiscard]] std::int64_t elements() const;
  /// None where there are no sizes, or more than three.
  [[nodiscard]] std::optional<clade::layout> layout() const;

  friend bool operator==(const tensor_shape&, const tensor_shape&) = default;
};

/// "8x8x1" is written as it is in files: "[1, 8, 8]".
[[nodiscard]] std::string to_text(const tensor_shape& s);

/// Says of the shape of a sequence that no network takes it, and how to write it instead.
[[nodiscard]] std::string no_sequences(const tensor_shape& s);

} // namespace clade
