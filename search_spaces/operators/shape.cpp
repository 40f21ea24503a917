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

tensor_shape tensor_shape::with_units(std::int64_t n) const {
  tensor_shape out = *this;
  out.sizes.at(units_at()) = n;
  return out;
}

std::string to_text(const tensor_shape& s) {
  std::string out = "[";
  for (std::size_t i = 0; i < s.sizes.size(); ++i)
    out += fmt::format("{}{}", i == 0 ? "" : ", ", s.sizes[i]);
  return out + "]";
}

} // namespace clade
