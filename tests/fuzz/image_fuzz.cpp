// Any bytes are an image or no image; those that are can be scaled.
#include "engine/data/images/picture.hpp"
#include "tests/fuzz/law.hpp"

using namespace clade;
using namespace clade::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto header = read_image_header(bytes);
  if (!header)
    return refused(header);
  constexpr std::size_t most = 1 << 20;
  if (header->height > most / header->width)
    return 0; // It takes long, and is bounded by `most_pixels`.
  for (const least_size least : {least_size{~std::size_t{0}, ~std::size_t{0}}, {2, 3}}) {
    const auto decoded = decode_image(bytes, least);
    if (!decoded) {
      refused(decoded);
      continue;
    }
    hold(decoded->channels == (header->grey ? 1 : 3), "the header tells what is grey");
    hold(decoded->height > 0 && decoded->height <= header->height && decoded->width > 0
             && decoded->width <= header->width,
         "it is no larger than its header says");
    hold(decoded->pixels.size() == decoded->height * decoded->width * decoded->channels,
         "there are all pixels");
    const auto scaled = scaled_to(with_channels(*decoded, 3), 2, 3);
    hold(scaled.pixels.size() == 18, "it has the size that it is scaled to");
  }
  return 0;
}
