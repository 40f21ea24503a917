#include "engine/data/in_quotes.hpp"

#include <algorithm>

namespace clade {

std::string printable(std::string_view text) {
  constexpr std::size_t longest = 40;
  std::string out;
  for (const char c : text.substr(0, longest))
    out += static_cast<unsigned char>(c) < ' ' ? '?' : c;
  return out + (text.size() > longest ? "..." : "");
}

std::string in_quotes(std::string_view text) {
  return "\"" + printable(text) + "\"";
}

std::string all_in_quotes(std::span<const std::string> texts) {
  constexpr std::size_t most = 12;
  std::string out;
  for (const std::string& text : texts.first(std::min(texts.size(), most)))
    out += (out.empty() ? "" : ", ") + in_quotes(text);
  return out + (texts.size() > most ? ", ..." : "");
}

} // namespace clade
