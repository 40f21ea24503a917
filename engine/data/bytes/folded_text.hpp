#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// Returns the code point of a character, which is whole UTF-8.
[[nodiscard]] std::uint32_t code_point(std::string_view character);

/// Returns the character of a code point below 0x800.
[[nodiscard]] std::string utf8_of(std::uint32_t code);

/// Returns the small letter of a code point. Small letters are known of ASCII, of Latin-1
/// and Latin Extended-A, of Greek and of Cyrillic.
[[nodiscard]] std::uint32_t small_letter(std::uint32_t code);

/// Returns `text` (UTF-8) in small letters and without what nobody sees: blanks of any
/// kind at its ends, more than one of them in a row, characters of no width. Texts that
/// are equal then look alike.
[[nodiscard]] std::string folded(std::string_view text);

/// Returns `text` (UTF-8) with Latin letters in the place of others, small ones, as far as
/// there is a usual way to write them: "groesse" of "größe", "tsena" of "цена". Marks that
/// combine with a letter go; what else is no ASCII becomes one '-' for each run of it.
[[nodiscard]] std::string in_latin_letters(std::string_view text);

/// Groups of two texts or more that look alike, in the order of `texts`.
[[nodiscard]] std::vector<std::vector<std::string>>
look_alikes(const std::vector<std::string>& texts);

} // namespace clade
