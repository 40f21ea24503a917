#pragma once

#include "engine/data/images/picture.hpp"

namespace clade::image_decoders {

/// The decoder of one kind of image. Both functions take the bytes of a file that begins
/// as the kind does; `decode` gets the header that `header` has read from the same bytes,
/// and does not turn the image.
struct decoder {
  std::string_view name; ///< "JPEG"
  bool (*begins)(std::string_view bytes);
  expected<image_header> (*header)(std::string_view bytes);
  expected<picture> (*decode)(std::string_view bytes, const image_header& header,
                              least_size least);
};

extern const decoder jpeg, png, webp, gif, bmp;

/// Says that the bytes are no whole image of their kind, and why.
[[nodiscard]] tl::unexpected<error> damaged(std::string_view why);

/// Puts a pixel on white as far as it is transparent: `alpha` is 255 where it is not.
[[nodiscard]] inline std::uint8_t on_white(unsigned value, unsigned alpha) {
  return static_cast<std::uint8_t>((value * alpha + 255 * (255 - alpha) + 127) / 255);
}

} // namespace clade::image_decoders
