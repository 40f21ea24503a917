#include "genome/utf8.hpp"

#include <algorithm>
#include <cstdint>

namespace clade {

namespace {

/// Controls of ASCII, and those that ISO 6429 has above it, which begin with 0xC2.
bool is_control(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character[0]);
  if (character.size() == 2)
    return lead == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0;
  return character.size() == 1
         && (lead == 0x7f || (lead < 0x20 && lead != '\n' && lead != '\t'));
}

/// The bytes of a plain character at the beginning; 0 where there is none.
std::size_t plain_length(std::string_view text) {
  const auto size = utf8_length(text);
  return size == 0 || is_control(text.substr(0, size)) ? 0 : size;
}

} // namespace

std::size_t utf8_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t size = lead < 0x80             ? 1
                           : (lead & 0xe0) == 0xc0 ? 2
                           : (lead & 0xf0) == 0xe0 ? 3
                           : (lead & 0xf8) == 0xf0 ? 4
                                                   : 0;
  if (size <= 1 || text.size() < size)
    return size == 1 ? 1 : 0;
  std::uint32_t code = lead & (0xffU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xc0) != 0x80)
      return 0;
    code = code << 6 | (byte & 0x3fU);
  }
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  return code < least[size] || code > 0x10ffff || surrogate ? 0 : size;
}

bool is_plain_text(std::string_view text) {
  while (!text.empty()) {
    const auto size = plain_length(text);
    if (size == 0)
      return false;
    text.remove_prefix(size);
  }
  return true;
}

std::string plain_text(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto size = plain_length(text);
    if (size == 0)
      out += '?';
    else
      out += text.substr(0, size);
    // The whole of a control character of several bytes.
    text.remove_prefix(std::max<std::size_t>({size, utf8_length(text), 1}));
  }
  return out;
}

std::string clipped(std::string_view text) {
  constexpr std::size_t longest = 60;
  return std::string(text.substr(0, longest)) + (text.size() > longest ? "..." : "");
}

} // namespace clade
