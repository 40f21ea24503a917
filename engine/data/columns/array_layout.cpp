#include "engine/data/columns/array_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace clade {
namespace {

// Gray, gray with alpha, RGB and RGBA. More channels are no evidence.
bool few(std::int64_t channels) {
  return channels >= 1 && channels <= 4;
}

std::string array_text(const tensor_shape& sizes) {
  std::string text = "[n";
  for (const auto size : sizes.sizes)
    text += fmt::format(", {}", size);
  return text + "]";
}

tl::unexpected<error> ask(const tensor_shape& sizes, const std::string& why) {
  return fail(error_kind::invalid_input,
              fmt::format("holds images as {}, and {}: write data.layout = "
                          "\"channels_last\" for [n, height, width, channels], or "
                          "\"channels_first\" for [n, channels, height, width]",
                          array_text(sizes), why));
}

tl::unexpected<error> contradiction(const tensor_shape& sizes,
                                    const tensor_shape& shape) {
  return fail(
      error_kind::invalid_input,
      fmt::format(
          "holds images as {}, which are none of shape = {} [channels, height, width]",
          array_text(sizes), to_text(shape)));
}

expected<array_layout> by_shape(const tensor_shape& sizes, const tensor_shape& shape) {
  const bool first = as_image(sizes, array_layout::channels_first) == shape;
  const bool last = as_image(sizes, array_layout::channels_last) == shape;
  if (first && last)
    return ask(sizes, "its shape fits both orders");
  if (first && few(sizes.sizes[2]) && !few(sizes.sizes[0]))
    return ask(sizes,
               fmt::format("shape = {} says {} channels, where the last size looks like "
                           "them (a shape is [channels, height, width])",
                           to_text(shape), sizes.sizes[0]));
  if (first)
    return array_layout::channels_first;
  if (last)
    return array_layout::channels_last;
  return contradiction(sizes, shape);
}

expected<array_layout> by_sizes(const tensor_shape& sizes) {
  const auto& s = sizes.sizes;
  if (few(s[0]) != few(s[2]))
    return few(s[0]) ? array_layout::channels_first : array_layout::channels_last;
  if ((s[1] == s[2]) != (s[0] == s[1]))
    return s[1] == s[2] ? array_layout::channels_first : array_layout::channels_last;
  return ask(sizes, "nothing says which of the sizes are the channels");
}

} // namespace

expected<array_layout> find_layout(std::span<const std::int64_t> all,
                                   const tensor_shape& shape, array_layout wanted) {
  const tensor_shape sizes{{all.begin(), all.end()}};
  if (sizes.layout() != layout::image) {
    if (wanted == array_layout::channels_last)
      return fail(
          error_kind::invalid_input,
          fmt::format("is an array of {}, to which data.layout = \"channels_last\" says "
                      "nothing: that is for [n, height, width, channels]",
                      array_text(sizes)));
    return array_layout::channels_first;
  }
  if (wanted == array_layout::channels_last && !shape.sizes.empty()
      && shape.layout() != layout::image)
    return fail(error_kind::invalid_input,
                fmt::format("has data.layout = \"channels_last\", which says nothing to "
                            "shape = {}: write shape = [channels, height, width]",
                            to_text(shape)));
  if (wanted != array_layout::automatic) {
    if (shape.layout() == layout::image && as_image(sizes, wanted) != shape)
      return contradiction(sizes, shape);
    return wanted;
  }
  // A vector's values stay in the order of the file.
  if (!shape.sizes.empty() && shape.layout() != layout::image)
    return array_layout::channels_first;
  return shape.sizes.empty() ? by_sizes(sizes) : by_shape(sizes, shape);
}

tensor_shape in_file(const tensor_shape& shape, array_layout layout) {
  tensor_shape out = shape;
  if (layout == array_layout::channels_last && shape.layout() == layout::image)
    std::rotate(out.sizes.begin(), out.sizes.begin() + 1, out.sizes.end());
  return out;
}

tensor_shape as_image(const tensor_shape& sizes, array_layout layout) {
  tensor_shape out = sizes;
  if (layout == array_layout::channels_last && sizes.layout() == layout::image)
    std::rotate(out.sizes.begin(), out.sizes.begin() + 2, out.sizes.end());
  return out;
}

std::vector<std::size_t> places_in_channels_last(const tensor_shape& shape) {
  const auto channels = static_cast<std::size_t>(shape.sizes[0]);
  const auto pixels = static_cast<std::size_t>(shape.elements()) / channels;
  std::vector<std::size_t> places;
  for (std::size_t c = 0; c < channels; ++c)
    for (std::size_t p = 0; p < pixels; ++p)
      places.push_back(p * channels + c);
  return places;
}

} // namespace clade
