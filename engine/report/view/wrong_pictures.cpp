#include "engine/report/view/wrong_pictures.hpp"

#include "engine/data/images/picture.hpp"

#include <algorithm>
#include <cmath>

namespace clade {
namespace {

/// Numbers of images are from 0 to 1 where they are no bytes.
std::uint8_t byte_of(const stored_numbers& values, std::size_t i) {
  const float v = values.type() == stored_type::uint8 ? values[i] * values.divisor()
                                                      : values[i] * 255;
  return static_cast<std::uint8_t>(std::lround(std::clamp(v, 0.0F, 255.0F)));
}

picture picture_of(const data_set& data, std::size_t example) {
  const auto size = [&](std::size_t i) {
    return static_cast<std::size_t>(data.shape.sizes[i]);
  };
  picture p{.channels = size(0), .height = size(1), .width = size(2), .pixels = {}};
  const std::size_t plane = p.height * p.width, first = example * p.channels * plane;
  for (std::size_t i = 0; i < plane; ++i)
    for (std::size_t c = 0; c < p.channels; ++c)
      p.pixels.push_back(byte_of(data.features, first + c * plane + i));
  return p;
}

} // namespace

std::vector<std::string> wrong_pictures(const data_set& data,
                                        const test_evidence& evidence) {
  if (data.shape.layout() != layout::image
      || (data.shape.sizes[0] != 1 && data.shape.sizes[0] != 3))
    return {};
  std::vector<std::string> out;
  for (const misclassified& m : evidence.classes) {
    const auto at = std::ranges::find(data.test_places, m.place);
    out.push_back(
        at == data.test_places.end()
            ? std::string()
            : encode_png(picture_of(
                data,
                data.test[static_cast<std::size_t>(at - data.test_places.begin())])));
  }
  return out;
}

} // namespace clade
