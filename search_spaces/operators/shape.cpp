#include "search_spaces/operators/shape.hpp"

#include <fmt/format.h>

namespace clade {
namespace {

struct layout_words {
  std::string_view name, sizes;
};

// By number of sizes, and by value of `layout`.
constexpr std::array<layout_words, 3> words{{{"vector", "[features]"},
                                             {"sequence", "[steps, features]"},
                                             {"image", "[channels, height, width]"}}};

const layout_words& words_of(layout l) {
  return words[static_cast<std::size_t>(l)];
}

} // namespace

std::string_view to_text(layout l) {
  return words_of(l).name;
}

std::string_view sizes_text(layout l) {
  return words_of(l).sizes;
}

std::optional<layout> tensor_shape::layout() const {
  if (sizes.empty() || sizes.size() > words.size())
    return std::nullopt;
  return static_cast<clade::layout>(sizes.size() - 1);
}

std::int64_t tensor_shape::elements() const {
  std::int64_t product = 1;
  for (const std::int64_t size : sizes)
    product *= size;
  return product;
}

std::string to_text(const tensor_shape& s) {
  std::string out = "[";
  for (std::size_t i = 0; i < s.sizes.size(); ++i)
    out += fmt::format("{}{}", i == 0 ? "" : ", ", s.sizes[i]);
  return out + "]";
}

std::string no_sequences(const tensor_shape& s) {
  tensor_shape image = s;
  image.sizes.insert(image.sizes.begin(), 1);
  return fmt::format(
      "examples of shape {} are sequences {}, which networks cannot take yet; write "
      "shape = {} for vectors, or shape = {} for images of one channel",
      to_text(s), sizes_text(layout::sequence), to_text(tensor_shape{{s.elements()}}),
      to_text(image));
}

} // namespace clade
