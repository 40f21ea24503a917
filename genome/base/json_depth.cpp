#include "genome/base/json_depth.hpp"

namespace clade {

bool nests_within(std::string_view text, std::size_t deepest, std::size_t most) {
  std::size_t depth = 0, values = 1;
  bool in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_text && c == '\\')
      ++i;
    else if (c == '"')
      in_text = !in_text;
    else if (!in_text && (c == '[' || c == '{' || c == ',')
             && (++values > most || (c != ',' && ++depth > deepest)))
      return false;
    else if (!in_text && (c == ']' || c == '}') && depth > 0)
      --depth;
  }
  return true;
}

} // namespace clade
