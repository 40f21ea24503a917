// Other scripts of files than those of `small_letter` have no case, hardly ever.

#include "engine/data/bytes/folded_text.hpp"

#include "genome/base/utf8.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>

namespace clade {
namespace {

bool is_blank(std::uint32_t c) {
  return c == ' ' || (c >= '\t' && c <= '\r') || c == 0xa0 || (c >= 0x2000 && c <= 0x200a)
         || c == 0x202f || c == 0x205f || c == 0x3000;
}

bool has_no_width(std::uint32_t c) {
  return c == 0xad || (c >= 0x200b && c <= 0x200f) || c == 0x2060 || c == 0xfeff;
}

using spellings = std::span<const std::string_view>;

// à to ÿ.
constexpr std::array<std::string_view, 32> latin_1{
    "a", "a", "a", "a", "ae", "a", "ae", "c", "e", "e", "e", "e", "i",  "i", "i",  "i",
    "d", "n", "o", "o", "o",  "o", "oe", "-", "o", "u", "u", "u", "ue", "y", "th", "y"};

// U+0100 to U+017F.
constexpr std::string_view latin_extended =
    "aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiiiiijjkkkllllllllllnnnnnnnnn"
    "oooooooorrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs";
static_assert(latin_extended.size() == 128);

// α to ώ.
constexpr std::array<std::string_view, 30> greek{
    "a", "v", "g", "d", "e", "z", "i", "th", "i",  "k", "l", "m", "n", "x", "o",
    "p", "r", "s", "s", "t", "y", "f", "ch", "ps", "o", "i", "y", "o", "y", "o"};

// а to я, and ѐ to џ.
constexpr std::array<std::string_view, 48> cyrillic{
    "a",  "b",    "v", "g", "d", "e",  "zh", "z",  "i", "i",  "k",  "l",
    "m",  "n",    "o", "p", "r", "s",  "t",  "u",  "f", "kh", "ts", "ch",
    "sh", "shch", "",  "y", "",  "e",  "yu", "ya", "e", "e",  "dj", "g",
    "e",  "dz",   "i", "i", "j", "lj", "nj", "c",  "k", "i",  "u",  "dz"};

/// How people write the small letter `c` in Latin letters; nothing: in no usual way.
std::optional<std::string_view> latin_of(std::uint32_t c) {
  const auto among = [&](std::uint32_t first,
                         spellings all) -> std::optional<std::string_view> {
    return c >= first && c < first + all.size() ? std::optional(all[c - first])
                                                : std::nullopt;
  };
  if (c == 0xdf)
    return "ss";
  if (c >= 0x300 && c < 0x370)
    return "";
  if (c >= 0x100 && c < 0x180)
    return latin_extended.substr(c - 0x100, 1);
  constexpr std::array<std::string_view, 4> accented{"a", "e", "i", "i"};
  for (const auto& [first, all] :
       {std::pair(0xe0U, spellings(latin_1)), std::pair(0x3acU, spellings(accented)),
        std::pair(0x3b1U, spellings(greek)), std::pair(0x430U, spellings(cyrillic))})
    if (const auto found = among(first, all))
      return found;
  return c == 0x491 ? std::optional<std::string_view>("g") : std::nullopt;
}

} // namespace

std::uint32_t code_point(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character[0]);
  if (character.size() == 1)
    return lead;
  std::uint32_t code = lead & (0x7fU >> character.size());
  for (const char c : character.substr(1))
    code = code << 6 | (static_cast<unsigned char>(c) & 0x3fU);
  return code;
}

std::string utf8_of(std::uint32_t code) {
  if (code < 0x80)
    return {static_cast<char>(code)};
  return {static_cast<char>(0xc0 | code >> 6), static_cast<char>(0x80 | (code & 0x3f))};
}

std::uint32_t small_letter(std::uint32_t c) {
  if ((c >= 'A' && c <= 'Z') || (c >= 0xc0 && c <= 0xde && c != 0xd7)
      || (c >= 0x391 && c <= 0x3a9) || (c >= 0x410 && c <= 0x42f))
    return c + 0x20;
  if (c >= 0x400 && c <= 0x40f)
    return c + 0x50;
  const bool even_is_large = (c >= 0x100 && c <= 0x137) || (c >= 0x14a && c <= 0x177);
  const bool odd_is_large = (c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17e);
  return (even_is_large && c % 2 == 0) || (odd_is_large && c % 2 == 1) ? c + 1 : c;
}

std::string folded(std::string_view text) {
  std::string out;
  bool blank = false;
  for (std::size_t at = 0; at < text.size();) {
    const auto size = std::max<std::size_t>(1, utf8_length(text.substr(at)));
    const auto character = text.substr(at, size);
    at += size;
    const auto code = code_point(character);
    if (has_no_width(code))
      continue;
    if (is_blank(code)) {
      blank = true;
      continue;
    }
    if (blank && !out.empty())
      out += ' ';
    blank = false;
    if (code < 0x800 && utf8_length(character) > 0)
      out += utf8_of(small_letter(code));
    else
      out += character;
  }
  return out;
}

std::string in_latin_letters(std::string_view text) {
  std::string out;
  bool unknown = false;
  for (std::size_t at = 0; at < text.size();) {
    const auto size = std::max<std::size_t>(1, utf8_length(text.substr(at)));
    const auto character = text.substr(at, size);
    at += size;
    const auto known = static_cast<unsigned char>(character[0]) < 0x80
                           ? std::optional(character)
                       : size > 1 ? latin_of(small_letter(code_point(character)))
                                  : std::nullopt;
    out += known ? *known : unknown ? "" : "-";
    unknown = !known;
  }
  return out;
}

std::vector<std::vector<std::string>> look_alikes(const std::vector<std::string>& texts) {
  std::map<std::string, std::vector<std::string>> by_look;
  for (const std::string& text : texts)
    by_look[folded(text)].push_back(text);
  std::vector<std::vector<std::string>> groups;
  for (const std::string& text : texts)
    if (auto& group = by_look[folded(text)]; group.size() > 1 && group.front() == text)
      groups.push_back(group);
  return groups;
}

} // namespace clade
