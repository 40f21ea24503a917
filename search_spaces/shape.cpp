#include "search_spaces/shape.hpp"

namespace clade {

std::int64_t tensor_shape::elements() const {
  std::int64_t product = 1;
  for (const std::int64_t size : sizes)
    product *= size;
  return product;
}

std::string to_text(const tensor_shape& s) {
  std::string out = "[";
  for (std::size_t i = 0; i < s.sizes.size(); ++i)
    out += (i == 0 ? "" : ", ") + std::to_string(s.sizes[i]);
  return out + "]";
}

} // namespace clade
