// PNG by libpng's simplified interface, which knows all depths, palettes and interlacing.
#include "engine/data/images/decoders.hpp"

#include <png.h>

namespace clade::image_decoders {
namespace {

/// The reader of libpng, ended whichever way the function is left.
struct png_reader {
  png_image image{};

  explicit png_reader(std::string_view bytes) {
    image.version = PNG_IMAGE_VERSION;
    open = png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()) != 0;
    // 16 bits without a word on their meaning are those of screens, not of light.
    image.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
  }
  png_reader(const png_reader&) = delete;
  png_reader& operator=(const png_reader&) = delete;
  ~png_reader() { png_image_free(&image); }

  bool open = false;
};

bool begins(std::string_view bytes) {
  return bytes.starts_with("\x89PNG\r\n\x1a\n");
}

expected<image_header> header(std::string_view bytes) {
  const png_reader r(bytes);
  if (!r.open)
    return damaged(r.image.message);
  return image_header{.height = r.image.height,
                      .width = r.image.width,
                      .grey = (r.image.format & PNG_FORMAT_FLAG_COLOR) == 0};
}

expected<picture> decode(std::string_view bytes, const image_header& known, least_size) {
  png_reader r(bytes);
  if (!r.open)
    return damaged(r.image.message);
  r.image.format = known.grey ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  picture out{.channels = known.grey ? std::size_t{1} : 3,
              .height = known.height,
              .width = known.width,
              .pixels = {}};
  out.pixels.resize(out.height * out.width * out.channels);
  const png_color white{255, 255, 255};
  if (png_image_finish_read(&r.image, &white, out.pixels.data(), 0, nullptr) == 0)
    return damaged(r.image.message);
  return out;
}

} // namespace

const decoder png{"PNG", begins, header, decode};

} // namespace clade::image_decoders

std::string clade::encode_png(const picture& p) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(p.width);
  image.height = static_cast<png_uint_32>(p.height);
  image.format = p.channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  std::string out;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  out.resize(size);
  if (png_image_write_to_memory(&image, out.data(), &size, 0, p.pixels.data(), 0, nullptr)
      == 0)
    return {};
  out.resize(size);
  return out;
}
