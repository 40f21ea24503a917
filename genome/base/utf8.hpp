#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace clade {

/// Returns how many bytes the character at the beginning of `text`, which is not empty,
/// has in UTF-8; 0 where there is none that is whole, shortest and a character.
[[nodiscard]] std::size_t utf8_length(std::string_view text);

/// Returns how many bytes of `text`, which is UTF-8, to keep so that they are `most` at the
/// most and end between two characters.
[[nodiscard]] std::size_t utf8_cut(std::string_view text, std::size_t most);

/// Returns whether `text` is UTF-8 whose only control characters are line ends and
/// tabulators, and which turns no direction of writing by itself (U+061C, U+200E, U+200F,
/// U+202A to U+202E, U+2066 to U+2069).
[[nodiscard]] bool is_plain_text(std::string_view text);

/// Returns `text` fit for a terminal, wherever it comes from: in the place of what
/// `is_plain_text` refuses stands "?", or "\u009b" where that is a character beyond ASCII's
/// first 32, so that a text of JSON still says the same.
[[nodiscard]] std::string plain_text(std::string_view text);

/// Returns `plain_text` of `text` with "?" in the place of line ends and tabulators too:
/// fit for a cell of a table and for a name within a sentence.
[[nodiscard]] std::string plain_line(std::string_view text);

/// Makes a text that comes in pieces plain. Bytes that may be the beginning of a character
/// wait for the next piece.
class plain_stream {
public:
  /// Returns what can be told of `piece`, behind what waited.
  [[nodiscard]] std::string add(std::string_view piece);
  /// Returns what still waits: nothing more comes.
  [[nodiscard]] std::string finish();

private:
  std::string waiting_;
};

/// Returns `text`, or its first 60 bytes and "..." where it is longer: fit to be quoted
/// in a message.
[[nodiscard]] std::string clipped(std::string_view text);

} // namespace clade
