// The first frame of a GIF by giflib, on white as large as the whole image. No further
// frame is read, however many there are.
#include "engine/data/images/decoders.hpp"

#include <gif_lib.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>

namespace clade::image_decoders {
namespace {

struct gif_end {
  void operator()(GifFileType* g) const { DGifCloseFile(g, nullptr); }
};

/// Reads from the bytes that are left.
int take(GifFileType* g, GifByteType* into, int most) {
  auto& left = *static_cast<std::string_view*>(g->UserData);
  const auto n = std::min(left.size(), static_cast<std::size_t>(std::max(most, 0)));
  std::copy_n(left.data(), n, reinterpret_cast<char*>(into));
  left.remove_prefix(n);
  return static_cast<int>(n);
}

using gif_file = std::unique_ptr<GifFileType, gif_end>;

expected<gif_file> open(std::string_view& left) {
  int why = 0;
  gif_file file(DGifOpen(&left, take, &why));
  if (!file)
    return damaged(GifErrorString(why) != nullptr ? GifErrorString(why) : "unknown");
  return file;
}

tl::unexpected<error> no_frame() {
  return damaged("it was cut off before its first frame ends");
}

/// The colour that shows what is behind, if an extension of graphics names one.
std::optional<int> transparent_in(int code, GifByteType* block) {
  GraphicsControlBlock control;
  if (code != GRAPHICS_EXT_FUNC_CODE || block == nullptr
      || DGifExtensionToGCB(block[0], block + 1, &control) == GIF_ERROR
      || control.TransparentColor == NO_TRANSPARENT_COLOR)
    return std::nullopt;
  return control.TransparentColor;
}

/// Reads up to the first frame; returns the colour that is transparent in it, or -1.
expected<int> find_frame(GifFileType* g) {
  int transparent = -1;
  for (;;) {
    GifRecordType kind = UNDEFINED_RECORD_TYPE;
    if (DGifGetRecordType(g, &kind) == GIF_ERROR || kind == TERMINATE_RECORD_TYPE)
      return no_frame();
    if (kind == IMAGE_DESC_RECORD_TYPE) {
      if (DGifGetImageDesc(g) == GIF_ERROR)
        return no_frame();
      return transparent;
    }
    int code = 0;
    GifByteType* block = nullptr;
    if (kind != EXTENSION_RECORD_TYPE || DGifGetExtension(g, &code, &block) == GIF_ERROR)
      return no_frame();
    transparent = transparent_in(code, block).value_or(transparent);
    while (block != nullptr)
      if (DGifGetExtensionNext(g, &block) == GIF_ERROR)
        return no_frame();
  }
}

/// The lines of a frame in the order in which they are stored.
std::vector<int> lines_of(const GifImageDesc& frame) {
  constexpr std::array<std::array<int, 2>, 4> passes{{{0, 8}, {4, 8}, {2, 4}, {1, 2}}};
  std::vector<int> lines;
  if (!frame.Interlace) {
    for (int y = 0; y < frame.Height; ++y)
      lines.push_back(y);
    return lines;
  }
  for (const auto& [first, step] : passes)
    for (int y = first; y < frame.Height; y += step)
      lines.push_back(y);
  return lines;
}

bool begins(std::string_view bytes) {
  return bytes.starts_with("GIF87a") || bytes.starts_with("GIF89a");
}

expected<image_header> header(std::string_view bytes) {
  auto left = bytes;
  return open(left).map([](const gif_file& g) {
    return image_header{.height = static_cast<std::size_t>(g->SHeight),
                        .width = static_cast<std::size_t>(g->SWidth)};
  });
}

void paint(picture& onto, const GifImageDesc& frame, int y,
           std::span<const GifByteType> line, const ColorMapObject& colors,
           int transparent) {
  const auto row = static_cast<std::size_t>(frame.Top + y);
  for (std::size_t x = 0; x < line.size(); ++x) {
    const auto column = static_cast<std::size_t>(frame.Left) + x;
    const int color = line[x];
    if (row >= onto.height || column >= onto.width || color == transparent
        || color >= colors.ColorCount)
      continue;
    const GifColorType& c = colors.Colors[color];
    std::uint8_t* pixel = onto.pixels.data() + (row * onto.width + column) * 3;
    pixel[0] = c.Red, pixel[1] = c.Green, pixel[2] = c.Blue;
  }
}

expected<picture> decode(std::string_view bytes, const image_header& known, least_size) {
  auto left = bytes;
  const auto g = open(left);
  if (!g)
    return tl::unexpected(g.error());
  const auto transparent = find_frame(g->get());
  if (!transparent)
    return tl::unexpected(transparent.error());
  const GifImageDesc& frame = (*g)->Image;
  const ColorMapObject* colors =
      frame.ColorMap != nullptr ? frame.ColorMap : (*g)->SColorMap;
  if (colors == nullptr)
    return damaged("it has no table of colours");
  if (frame.Width < 1 || frame.Height < 1
      || static_cast<std::size_t>(frame.Width) * static_cast<std::size_t>(frame.Height)
             > most_pixels)
    return damaged("its first frame is of an impossible size");
  picture out{.height = known.height, .width = known.width, .pixels = {}};
  out.pixels.assign(out.height * out.width * 3, 255);
  std::vector<GifByteType> line(static_cast<std::size_t>(frame.Width));
  for (const int y : lines_of(frame)) {
    if (DGifGetLine(g->get(), line.data(), frame.Width) == GIF_ERROR)
      return no_frame();
    paint(out, frame, y, line, *colors, *transparent);
  }
  return out;
}

} // namespace

const decoder gif{"GIF", begins, header, decode};

} // namespace clade::image_decoders
