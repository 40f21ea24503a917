#include "tools/launch/shell_word.hpp"

#include <algorithm>

namespace clade {

namespace {

/// Means itself wherever a word may stand. Not "~" and "=", which mean more at a word's
/// beginning.
bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
         || std::string_view("_-./:,@%+").find(c) != std::string_view::npos;
}

} // namespace

std::string shell_word(std::string_view text) {
  if (!text.empty() && std::ranges::all_of(text, is_plain))
    return std::string(text);
  std::string word = "'";
  for (const char c : text)
    word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

} // namespace clade
