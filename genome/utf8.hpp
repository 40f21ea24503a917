#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace clade {

/// Returns how many bytes the character at the beginning of `text`, which is not empty,
/// has in UTF-8; 0 where there is none that is whole, shortest and a character.
[[nodiscard]] std::size_t utf8_length(std::string_view text);

/// Whether `text` is UTF-8 whose only control characters are line ends and tabulators.
[[nodiscard]] bool is_plain_text(std::string_view text);

/// Returns `text` with "?" in the place of what `is_plain_text` refuses: fit for a
/// terminal, wherever it comes from.
[[nodiscard]] std::string plain_text(std::string_view text);

/// Returns `text`, or its first 60 bytes and "..." where it is longer: fit to be quoted
/// in a message.
[[nodiscard]] std::string clipped(std::string_view text);

} // namespace clade
