// WebP by libwebp. Animations need another library of its and are refused.
#include "engine/data/images/decoders.hpp"

#include <webp/decode.h>

namespace clade::image_decoders {
namespace {

bool begins(std::string_view bytes) {
  return bytes.starts_with("RIFF") && bytes.size() >= 12 && bytes.substr(8, 4) == "WEBP";
}

const std::uint8_t* start_of(std::string_view bytes) {
  return reinterpret_cast<const std::uint8_t*>(bytes.data());
}

expected<image_header> header(std::string_view bytes) {
  WebPBitstreamFeatures f;
  if (WebPGetFeatures(start_of(bytes), bytes.size(), &f) != VP8_STATUS_OK)
    return damaged("its header is");
  if (f.has_animation != 0)
    return fail(error_kind::invalid_input, "is an animation; save one of its frames");
  return image_header{.height = static_cast<std::size_t>(f.height),
                      .width = static_cast<std::size_t>(f.width)};
}

expected<picture> decode(std::string_view bytes, const image_header& known, least_size) {
  std::vector<std::uint8_t> rgba(known.height * known.width * 4);
  if (WebPDecodeRGBAInto(start_of(bytes), bytes.size(), rgba.data(), rgba.size(),
                         static_cast<int>(known.width * 4))
      == nullptr)
    return damaged("its pixels are, or it was cut off");
  picture out{.height = known.height, .width = known.width, .pixels = {}};
  out.pixels.reserve(known.height * known.width * 3);
  for (std::size_t i = 0; i < rgba.size(); i += 4)
    for (std::size_t c = 0; c < 3; ++c)
      out.pixels.push_back(on_white(rgba[i + c], rgba[i + 3]));
  return out;
}

} // namespace

const decoder webp{"WebP", begins, header, decode};

} // namespace clade::image_decoders
