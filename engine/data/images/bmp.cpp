// BMP, for which Debian has no library of its own: the header of Windows (40 bytes and
// more) with 1, 4, 8, 16, 24 or 32 bits for a pixel, not packed.
//
// file   := "BM" size{4} 0{4} pixels{4} header palette? row*
// header := size{4} width{4} height{4} planes{2} bits{2} packing{4} bytes{4} x{4} y{4}
//           colours{4} important{4} ...
//
// Numbers have their lowest byte first. A negative height is that of rows from the top. A
// row is filled up to whole words of 4 bytes.
#include "engine/data/images/decoders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace clade::image_decoders {
namespace {

struct bmp_facts {
  std::uint64_t pixels = 0;  ///< Byte of the first.
  std::uint64_t palette = 0; ///< Byte of the first colour, of 4 bytes each.
  std::uint64_t colors = 0;
  std::int64_t width = 0, height = 0;
  std::uint64_t bits = 0;
  bool from_top = false;
};

std::uint32_t number(std::string_view bytes, std::uint64_t at, unsigned size) {
  std::uint32_t n = 0;
  for (unsigned i = 0; i < size; ++i)
    n |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[at + i])) << 8 * i;
  return n;
}

bool begins(std::string_view bytes) {
  constexpr std::size_t reserved = 6;
  return bytes.size() >= 18 && bytes.starts_with("BM") && number(bytes, reserved, 4) == 0;
}

expected<bmp_facts> facts_of(std::string_view bytes) {
  constexpr std::uint64_t head = 14, usual = 40;
  constexpr std::uint32_t plain = 0, by_masks = 3;
  if (bytes.size() < head + usual)
    return damaged("it was cut off within its header");
  const std::uint64_t length = number(bytes, 14, 4);
  if (length < usual)
    return fail(error_kind::invalid_input,
                "is a BMP of OS/2, which is not read; save it as PNG");
  const auto height = static_cast<std::int32_t>(number(bytes, 22, 4));
  bmp_facts f{.pixels = number(bytes, 10, 4),
              .palette = head + length,
              .colors = number(bytes, 46, 4),
              .width = static_cast<std::int32_t>(number(bytes, 18, 4)),
              .height = height < 0 ? -std::int64_t{height} : height,
              .bits = number(bytes, 28, 2),
              .from_top = height < 0};
  const auto packing = number(bytes, 30, 4);
  if (packing != plain && (packing != by_masks || f.bits != 32))
    return fail(error_kind::invalid_input,
                fmt::format("is a BMP of packing {}, which is not read; save it as PNG",
                            packing));
  constexpr std::array<std::uint64_t, 6> depths{1, 4, 8, 16, 24, 32};
  if (std::ranges::find(depths, f.bits) == depths.end())
    return damaged(fmt::format("{} bits for a pixel", f.bits));
  if (f.width < 1 || f.height < 1)
    return damaged("it has no pixels");
  if (f.bits <= 8 && (f.colors == 0 || f.colors > std::uint64_t{1} << f.bits))
    f.colors = std::uint64_t{1} << f.bits;
  return f;
}

expected<image_header> header(std::string_view bytes) {
  return facts_of(bytes).map([](const bmp_facts& f) {
    return image_header{.height = static_cast<std::size_t>(f.height),
                        .width = static_cast<std::size_t>(f.width)};
  });
}

std::array<std::uint8_t, 3> color_at(std::string_view bytes, std::uint64_t at) {
  const auto byte = [&](std::uint64_t i) { return static_cast<std::uint8_t>(bytes[i]); };
  return {byte(at + 2), byte(at + 1), byte(at)};
}

/// The colour of pixel `x` of the row that begins at byte `row`.
std::array<std::uint8_t, 3> pixel_of(std::string_view bytes, const bmp_facts& f,
                                     std::uint64_t row, std::uint64_t x) {
  if (f.bits >= 24)
    return color_at(bytes, row + x * (f.bits / 8));
  if (f.bits == 16) {
    constexpr unsigned most = 31;
    const auto all = number(bytes, row + 2 * x, 2);
    const auto part = [&](unsigned shift) {
      return static_cast<std::uint8_t>(((all >> shift) & most) * 255 / most);
    };
    return {part(10), part(5), part(0)};
  }
  const std::uint64_t each = 8 / f.bits;
  const auto byte = static_cast<unsigned char>(bytes[row + x / each]);
  const auto shift = (each - 1 - x % each) * f.bits;
  const auto color = (byte >> shift) & ((1U << f.bits) - 1);
  return color_at(bytes, f.palette + 4 * std::min<std::uint64_t>(color, f.colors - 1));
}

expected<picture> decode(std::string_view bytes, const image_header& known, least_size) {
  const auto f = facts_of(bytes);
  if (!f)
    return tl::unexpected(f.error());
  const std::uint64_t row = (known.width * f->bits + 31) / 32 * 4;
  const bool indexed = f->bits <= 8;
  if (f->pixels + row * known.height > bytes.size()
      || (indexed && f->palette + 4 * f->colors > bytes.size()))
    return damaged("it was cut off");
  picture out{.height = known.height, .width = known.width, .pixels = {}};
  out.pixels.reserve(known.height * known.width * 3);
  for (std::uint64_t y = 0; y < known.height; ++y) {
    const auto stored = f->from_top ? y : known.height - 1 - y;
    for (std::uint64_t x = 0; x < known.width; ++x)
      for (const auto c : pixel_of(bytes, *f, f->pixels + stored * row, x))
        out.pixels.push_back(c);
  }
  return out;
}

} // namespace

const decoder bmp{"BMP", begins, header, decode};

} // namespace clade::image_decoders
