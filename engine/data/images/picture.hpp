#pragma once

#include "genome/base/error.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// A decoded image: bytes row by row from the top, the channels of a pixel beside each
/// other.
struct picture {
  std::size_t channels = 3; ///< 1 of grey, 3 of red, green and blue.
  std::size_t height = 0;
  std::size_t width = 0;
  std::vector<std::uint8_t> pixels; ///< [height, width, channels]
};

/// The facts that an image's header tells.
struct image_header {
  std::size_t height = 0; ///< The height as people see it, so after it was turned.
  std::size_t width = 0;
  bool grey = false;
  /// The orientation of EXIF, 1 to 8: 1 lies as it is seen, 6 is to be turned a quarter
  /// to the right.
  int orientation = 1;
};

/// An image of more pixels is refused by its header.
inline constexpr std::size_t most_pixels = 100'000'000;

/// Reads the header of a JPEG, PNG, WebP, BMP or GIF image, known by its first bytes. An
/// error says why there is no such image: another kind, damaged, too large.
[[nodiscard]] expected<image_header> read_image_header(std::string_view bytes);

/// The smallest size of interest: a decoder that can makes no more pixels than twice as
/// many in height and width, which is faster.
struct least_size {
  std::size_t height = 1, width = 1;
};

/// Decodes an image, of GIF its first frame; 16 bits become 8, palettes colours, and what
/// is transparent white. It is turned as EXIF says. Any bytes give a picture or an error.
[[nodiscard]] expected<picture> decode_image(std::string_view bytes,
                                             least_size least = {~std::size_t{0},
                                                                 ~std::size_t{0}});

/// Scales a picture to that size, each pixel a mean of those near it, weighed by a
/// triangle (bilinear, and over all that it covers where the picture becomes smaller).
/// Whole numbers alone decide, so that all machines give the same bytes.
[[nodiscard]] picture scaled_to(const picture& p, std::size_t height, std::size_t width);

/// Returns the picture as a PNG file; empty where libpng has no memory for it.
[[nodiscard]] std::string encode_png(const picture& p);

/// Returns the picture with so many channels, 1 or 3: grey is .299, .587 and .114 of red,
/// green and blue.
[[nodiscard]] picture with_channels(picture p, std::size_t channels);

} // namespace clade
