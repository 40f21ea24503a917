#include "engine/data/bytes/in_quotes.hpp"

#include "genome/base/text.hpp"
#include "genome/base/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clade {

std::string printable(std::string_view text) {
  constexpr std::size_t longest = 40;
  std::size_t end = std::min(text.size(), longest);
  // Not within a character.
  while (end > 0 && end < text.size()
         && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
    --end;
  std::string out = plain_text(text.substr(0, end));
  for (char& c : out)
    if (static_cast<unsigned char>(c) < ' ')
      c = '?';
  return out + (end < text.size() ? "..." : "");
}

std::string in_quotes(std::string_view text) {
  return fmt::format("\"{}\"", printable(text));
}

std::string all_in_quotes(std::span<const std::string> texts) {
  constexpr std::size_t most = 12;
  const std::string out =
      joined(texts.first(std::min(texts.size(), most)), ", ", in_quotes);
  return out + (texts.size() > most ? ", ..." : "");
}

} // namespace clade
