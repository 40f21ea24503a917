// JPEG by libjpeg-turbo, which can decode at eighths of the size, and the orientation by
// libexif. A file without its end marker of which the decoder complains was cut off;
// other complaints (bytes too many between two markers) are of no consequence.
#include "engine/data/images/decoders.hpp"

#include <libexif/exif-data.h>
#include <turbojpeg.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <span>

namespace clade::image_decoders {
namespace {

struct handle_end {
  void operator()(void* h) const { tjDestroy(h); }
};
using decompressor = std::unique_ptr<void, handle_end>;

decompressor new_decompressor() {
  return decompressor(tjInitDecompress());
}

const unsigned char* start_of(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

/// Returns the orientation of EXIF, 1 to 8; 1 where it says nothing.
int orientation_of(std::string_view bytes) {
  constexpr auto most = std::numeric_limits<unsigned>::max();
  if (bytes.size() > most)
    return 1;
  const std::unique_ptr<ExifData, decltype(&exif_data_unref)> data(
      exif_data_new_from_data(start_of(bytes), static_cast<unsigned>(bytes.size())),
      &exif_data_unref);
  if (!data)
    return 1;
  const ExifEntry* entry = exif_data_get_entry(data.get(), EXIF_TAG_ORIENTATION);
  if (entry == nullptr || entry->format != EXIF_FORMAT_SHORT || entry->size < 2)
    return 1;
  const int said = exif_get_short(entry->data, exif_data_get_byte_order(data.get()));
  return said >= 1 && said <= 8 ? said : 1;
}

struct jpeg_facts {
  int width = 0, height = 0, subsampling = 0, colorspace = 0;
};

expected<jpeg_facts> facts_of(tjhandle h, std::string_view bytes) {
  jpeg_facts f;
  if (tjDecompressHeader3(h, start_of(bytes), bytes.size(), &f.width, &f.height,
                          &f.subsampling, &f.colorspace)
      != 0)
    return damaged(tjGetErrorStr2(h));
  return f;
}

bool begins(std::string_view bytes) {
  return bytes.starts_with("\xff\xd8\xff");
}

expected<image_header> header(std::string_view bytes) {
  const auto h = new_decompressor();
  if (!h)
    return fail(error_kind::io, "no memory to decode JPEG");
  return facts_of(h.get(), bytes).map([&](const jpeg_facts& f) {
    image_header out{.height = static_cast<std::size_t>(f.height),
                     .width = static_cast<std::size_t>(f.width),
                     .grey = f.colorspace == TJCS_GRAY,
                     .orientation = orientation_of(bytes)};
    if (out.orientation >= 5)
      std::swap(out.height, out.width);
    return out;
  });
}

/// The smallest scale of the decoder's that keeps twice the size of interest.
tjscalingfactor scale_for(const jpeg_facts& f, std::size_t height, std::size_t width) {
  int count = 0;
  const tjscalingfactor* all = tjGetScalingFactors(&count);
  tjscalingfactor best{1, 1};
  const auto enough = [](int size, std::size_t least) {
    return least <= std::numeric_limits<int>::max() / 4
           && size >= 2 * static_cast<int>(least);
  };
  for (const auto& s : std::span(all, static_cast<std::size_t>(std::max(count, 0))))
    if (s.num <= s.denom && enough(TJSCALED(f.height, s), height)
        && enough(TJSCALED(f.width, s), width) && s.num * best.denom < best.num * s.denom)
      best = s;
  return best;
}

/// Colours of print, whose bytes JPEG has inverted, as those of screens.
std::vector<std::uint8_t> of_print(const std::vector<std::uint8_t>& cmyk) {
  std::vector<std::uint8_t> out;
  out.reserve(cmyk.size() / 4 * 3);
  for (std::size_t i = 0; i + 3 < cmyk.size(); i += 4)
    for (std::size_t c = 0; c < 3; ++c)
      out.push_back(
          static_cast<std::uint8_t>((unsigned{cmyk[i + c]} * cmyk[i + 3] + 127) / 255));
  return out;
}

bool has_end(std::string_view bytes) {
  constexpr std::size_t trailing = 4096;
  return bytes.substr(bytes.size() - std::min(bytes.size(), trailing)).find("\xff\xd9")
         != std::string_view::npos;
}

expected<picture> decode(std::string_view bytes, const image_header& known,
                         least_size least) {
  const auto h = new_decompressor();
  if (!h)
    return fail(error_kind::io, "no memory to decode JPEG");
  const auto f = facts_of(h.get(), bytes);
  if (!f)
    return tl::unexpected(f.error());
  if (known.orientation >= 5)
    std::swap(least.height, least.width);
  const auto scale = scale_for(*f, least.height, least.width);
  const int width = TJSCALED(f->width, scale), height = TJSCALED(f->height, scale);
  const bool print = f->colorspace == TJCS_CMYK || f->colorspace == TJCS_YCCK;
  const int format = known.grey ? TJPF_GRAY : print ? TJPF_CMYK : TJPF_RGB;
  const auto channels = static_cast<std::size_t>(tjPixelSize[format]);
  picture out{.channels = print ? 3 : channels,
              .height = static_cast<std::size_t>(height),
              .width = static_cast<std::size_t>(width),
              .pixels = {}};
  out.pixels.resize(out.height * out.width * channels);
  if (tjDecompress2(h.get(), start_of(bytes), bytes.size(), out.pixels.data(), width, 0,
                    height, format, TJFLAG_LIMITSCANS)
          != 0
      && (tjGetErrorCode(h.get()) != TJERR_WARNING || !has_end(bytes)))
    return damaged(tjGetErrorStr2(h.get()));
  if (print)
    out.pixels = of_print(out.pixels);
  return out;
}

} // namespace

const decoder jpeg{"JPEG", begins, header, decode};

} // namespace clade::image_decoders
