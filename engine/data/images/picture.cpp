#include "engine/data/images/picture.hpp"

#include "engine/data/images/decoders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace clade {
namespace {

using image_decoder = image_decoders::decoder;

expected<const image_decoder*> decoder_of(std::string_view bytes) {
  using namespace image_decoders;
  for (const image_decoder* one : {&jpeg, &png, &webp, &gif, &bmp})
    if (one->begins(bytes))
      return one;
  if (bytes.empty())
    return fail(error_kind::invalid_input, "is empty");
  if (bytes.starts_with("II*") || bytes.starts_with("MM"))
    return fail(error_kind::invalid_input,
                "is an image of a kind that is not read (TIFF); save it as PNG");
  return fail(error_kind::invalid_input,
              "is no image: it begins neither as JPEG, PNG, WebP, GIF nor BMP");
}

expected<image_header> checked_header(const image_decoder& kind, std::string_view bytes) {
  auto h = kind.header(bytes);
  if (!h)
    return h;
  if (h->height == 0 || h->width == 0)
    return image_decoders::damaged("it has no pixels");
  if (h->height > most_pixels / h->width)
    return fail(error_kind::invalid_input,
                fmt::format("has {} x {} pixels, and {} are the most: make it smaller",
                            h->width, h->height, most_pixels));
  return h;
}

/// Returns the row and the column in the stored picture of a pixel of the turned one.
std::pair<std::size_t, std::size_t> stored_place(int orientation, std::size_t row,
                                                 std::size_t column, std::size_t height,
                                                 std::size_t width) {
  const auto last_row = height - 1, last_column = width - 1;
  switch (orientation) {
  case 2:
    return {row, last_column - column};
  case 3:
    return {last_row - row, last_column - column};
  case 4:
    return {last_row - row, column};
  case 5:
    return {column, row};
  case 6:
    return {last_row - column, row};
  case 7:
    return {last_row - column, last_column - row};
  case 8:
    return {column, last_column - row};
  default:
    return {row, column};
  }
}

picture turned(picture p, int orientation) {
  if (orientation == 1)
    return p;
  picture out{.channels = p.channels, .height = p.height, .width = p.width, .pixels = {}};
  if (orientation >= 5)
    std::swap(out.height, out.width);
  out.pixels.reserve(p.pixels.size());
  for (std::size_t y = 0; y < out.height; ++y)
    for (std::size_t x = 0; x < out.width; ++x) {
      const auto [row, column] = stored_place(orientation, y, x, p.height, p.width);
      const std::uint8_t* pixel = p.pixels.data() + (row * p.width + column) * p.channels;
      out.pixels.insert(out.pixels.end(), pixel, pixel + p.channels);
    }
  return out;
}

/// The pixels that one pixel of a scaled line is a mean of, and their shares.
struct covered {
  std::size_t first = 0;
  std::vector<std::int32_t> shares; ///< They sum up to `one`.
};

constexpr int share_bits = 16;
constexpr std::int64_t one = std::int64_t{1} << share_bits;

// Pixel o of n_out is as wide as n_in / n_out pixels, and its middle lies at (o + 1/2) of
// these. All in units of 1 / (2 n_out) of a pixel, so that everything is a whole number.
covered covered_by(std::size_t o, std::size_t n_in, std::size_t n_out) {
  const auto in = static_cast<std::int64_t>(n_in), out = static_cast<std::int64_t>(n_out);
  const std::int64_t middle = (2 * static_cast<std::int64_t>(o) + 1) * in;
  const std::int64_t reach = 2 * std::max(in, out);
  const std::int64_t first = std::max<std::int64_t>(0, (middle - reach) / (2 * out));
  const std::int64_t last = std::min<std::int64_t>(in - 1, (middle + reach) / (2 * out));
  std::vector<std::int64_t> heights;
  std::int64_t total = 0;
  for (auto i = first; i <= last; ++i) {
    const auto away = std::abs((2 * i + 1) * out - middle);
    heights.push_back(std::max<std::int64_t>(0, reach - away));
    total += heights.back();
  }
  covered c{.first = static_cast<std::size_t>(first), .shares = {}};
  std::int64_t left = one;
  for (const auto h : heights) {
    c.shares.push_back(static_cast<std::int32_t>(one * h / total));
    left -= c.shares.back();
  }
  // The rest that rounding leaves goes to the middle.
  c.shares[c.shares.size() / 2] += static_cast<std::int32_t>(left);
  return c;
}

/// By pixel of a line of `n_out`, those of a line of `n_in` that it covers.
std::vector<covered> cover(std::size_t n_in, std::size_t n_out) {
  std::vector<covered> all;
  for (std::size_t o = 0; o < n_out; ++o)
    all.push_back(covered_by(o, n_in, n_out));
  return all;
}

/// Two neighbors of a line are `step` bytes apart.
std::uint8_t weighed(const std::uint8_t* first, std::size_t step, const covered& c) {
  std::int64_t sum = one / 2;
  for (std::size_t i = 0; i < c.shares.size(); ++i)
    sum += std::int64_t{c.shares[i]} * first[i * step];
  return static_cast<std::uint8_t>(sum >> share_bits);
}

} // namespace

tl::unexpected<error> image_decoders::damaged(std::string_view why) {
  return fail(error_kind::invalid_input,
              fmt::format("the image is damaged ({}); fetch it again", why));
}

expected<image_header> read_image_header(std::string_view bytes) {
  return decoder_of(bytes).and_then(
      [&](const image_decoder* kind) { return checked_header(*kind, bytes); });
}

expected<picture> decode_image(std::string_view bytes, least_size least) {
  const auto kind = decoder_of(bytes);
  if (!kind)
    return tl::unexpected(kind.error());
  const auto header = checked_header(**kind, bytes);
  if (!header)
    return tl::unexpected(header.error());
  return (*kind)->decode(bytes, *header, least).map([&](picture&& p) {
    return turned(std::move(p), header->orientation);
  });
}

picture scaled_to(const picture& p, std::size_t height, std::size_t width) {
  if (p.height == height && p.width == width)
    return p;
  picture flat{.channels = p.channels, .height = p.height, .width = width, .pixels = {}};
  flat.pixels.reserve(p.height * width * p.channels);
  const auto across = cover(p.width, width);
  for (std::size_t y = 0; y < p.height; ++y)
    for (const covered& c : across)
      for (std::size_t k = 0; k < p.channels; ++k)
        flat.pixels.push_back(weighed(
            p.pixels.data() + (y * p.width + c.first) * p.channels + k, p.channels, c));
  picture out{.channels = p.channels, .height = height, .width = width, .pixels = {}};
  out.pixels.reserve(height * width * p.channels);
  const std::size_t line = width * p.channels;
  for (const covered& c : cover(p.height, height))
    for (std::size_t x = 0; x < line; ++x)
      out.pixels.push_back(weighed(flat.pixels.data() + c.first * line + x, line, c));
  return out;
}

picture with_channels(picture p, std::size_t channels) {
  if (p.channels == channels)
    return p;
  std::vector<std::uint8_t> pixels;
  pixels.reserve(p.height * p.width * channels);
  if (channels == 3)
    for (const auto grey : p.pixels)
      pixels.insert(pixels.end(), 3, grey);
  else
    for (std::size_t i = 0; i + 2 < p.pixels.size(); i += 3)
      pixels.push_back(
          static_cast<std::uint8_t>((19595U * p.pixels[i] + 38470U * p.pixels[i + 1]
                                     + 7471U * p.pixels[i + 2] + 32768U)
                                    >> 16));
  p.channels = channels;
  p.pixels = std::move(pixels);
  return p;
}

} // namespace clade
