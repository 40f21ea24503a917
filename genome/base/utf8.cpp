#include "genome/base/utf8.hpp"

#include <algorithm>
#include <cstdint>

namespace clade {

namespace {

constexpr std::uint32_t no_character = 0xffffffff;

/// Returns the code of the character that `text`, of 1 to 4 bytes, should be.
std::uint32_t code_of(std::string_view text) {
  const auto size = text.size();
  const auto lead = static_cast<unsigned char>(text[0]);
  if (size == 1)
    return lead;
  std::uint32_t code = lead & (0xffU >> (size + 1));
  for (const char c : text.substr(1)) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xc0) != 0x80)
      return no_character;
    code = code << 6 | (byte & 0x3fU);
  }
  return code;
}

/// Returns how many bytes a character has that begins with `lead`; 0: none begins so.
std::size_t length_after(unsigned char lead) {
  return lead < 0x80             ? 1
         : (lead & 0xe0) == 0xc0 ? 2
         : (lead & 0xf0) == 0xe0 ? 3
         : (lead & 0xf8) == 0xf0 ? 4
                                 : 0;
}

/// Controls of ASCII and of ISO 6429, and those that turn the direction of writing.
bool is_control(std::uint32_t code) {
  return (code < 0x20 && code != '\n' && code != '\t') || (code >= 0x7f && code < 0xa0)
         || code == 0x61c || code == 0x200e || code == 0x200f
         || (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

/// Returns how a terminal shows the first character of `text`, which has `size` bytes; 0:
/// none is whole.
std::string shown(std::string_view text, std::size_t size) {
  const auto code = size == 0 ? no_character : code_of(text.substr(0, size));
  if (size != 0 && !is_control(code))
    return std::string(text.substr(0, size));
  if (code < 0x20 || code == no_character)
    return "?";
  constexpr std::string_view digits = "0123456789abcdef";
  std::string escape = "\\u";
  for (int shift = 12; shift >= 0; shift -= 4)
    escape += digits[code >> shift & 0xf];
  return escape;
}

/// Returns whether `text` is the beginning of a character that more bytes may make whole.
bool is_begun(std::string_view text) {
  return text.size() < length_after(static_cast<unsigned char>(text[0]))
         && std::ranges::all_of(text.substr(1), [](char c) {
              return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
            });
}

} // namespace

std::size_t utf8_length(std::string_view text) {
  const auto size = length_after(static_cast<unsigned char>(text[0]));
  if (size <= 1 || text.size() < size)
    return size == 1 ? 1 : 0;
  const auto code = code_of(text.substr(0, size));
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  return code < least[size] || code > 0x10ffff || surrogate ? 0 : size;
}

std::size_t utf8_cut(std::string_view text, std::size_t most) {
  if (text.size() <= most)
    return text.size();
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80)
    --most;
  return most;
}

bool is_plain_text(std::string_view text) {
  while (!text.empty()) {
    const auto size = utf8_length(text);
    if (size == 0 || is_control(code_of(text.substr(0, size))))
      return false;
    text.remove_prefix(size);
  }
  return true;
}

std::string plain_text(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto size = utf8_length(text);
    out += shown(text, size);
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return out;
}

std::string plain_line(std::string_view text) {
  auto line = plain_text(text);
  std::ranges::replace_if(
      line, [](char c) { return c == '\n' || c == '\t'; }, '?');
  return line;
}

std::string plain_stream::add(std::string_view piece) {
  waiting_ += piece;
  // The last character has at most four bytes.
  std::size_t end = waiting_.size();
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, waiting_.size()); ++back)
    if (is_begun(std::string_view(waiting_).substr(waiting_.size() - back)))
      end = waiting_.size() - back;
  auto out = plain_text(std::string_view(waiting_).substr(0, end));
  waiting_.erase(0, end);
  return out;
}

std::string plain_stream::finish() {
  auto out = plain_text(waiting_);
  waiting_.clear();
  return out;
}

std::string clipped(std::string_view text) {
  constexpr std::size_t longest = 60;
  return std::string(text.substr(0, longest)) + (text.size() > longest ? "..." : "");
}

} // namespace clade
