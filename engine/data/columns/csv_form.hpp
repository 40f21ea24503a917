#pragma once

#include "engine/data/bytes/csv_rows.hpp"
#include "engine/data/columns/data_params.hpp"
#include "engine/data/numbers/number_form.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// The word of `data_params::delimiter` for lines that are a word and a text.
inline constexpr std::string_view first_blank_word = "first blank";

/// How a table is written down.
struct csv_form {
  csv_dialect dialect;
  char decimal = '.';
  std::vector<std::string> units{}; ///< By column; there may be fewer than columns.
  /// How many lines stand before the table: "sep=;", titles.
  std::uint64_t passed_over = 0;
  /// By column, those of texts also where these look like numbers, as the kind of file
  /// says that the table was in; there may be fewer than columns.
  std::vector<bool> texts{};
  /// A number of which nothing says what its mark means; empty: there is none.
  std::string unclear{};

  /// That of one column.
  [[nodiscard]] number_form number(std::size_t column) const {
    return {decimal, column < units.size() ? units[column] : std::string()};
  }
  [[nodiscard]] bool is_text(std::size_t column) const {
    return column < texts.size() && texts[column];
  }
  [[nodiscard]] csv_rows rows(std::string_view text) const {
    return csv_rows(text, dialect, passed_over);
  }

  friend bool operator==(const csv_form&, const csv_form&) = default;
};

/// Returns the form that `params` say, and where they say "auto", what the text shows.
/// `likely` is the decimal mark where it shows nothing or is unclear. The rules are at
/// the top of csv_form.cpp.
[[nodiscard]] csv_form find_form(std::string_view text, const data_params& params,
                                 std::optional<char> likely = std::nullopt);

/// Returns what `data_params::delimiter` calls the delimiter.
[[nodiscard]] std::string delimiter_word(const csv_dialect& dialect);

/// Returns how many lines of titles are passed over.
[[nodiscard]] std::uint64_t title_lines(std::string_view text, const csv_form& form);

/// Says what of the form was decided without evidence, or leaves lines out, and how to
/// say otherwise: a sentence each.
[[nodiscard]] std::vector<std::string> form_notes(std::string_view text,
                                                  const csv_form& form);

/// A file's text in UTF-8.
struct csv_text {
  std::string text;
  std::string encoding; ///< "utf-8", "utf-16" or "latin-1", in which it was.
  /// For UTF-8: bytes that are none, read as Latin-1, and the line of the first of them.
  std::uint64_t bad_bytes = 0, bad_line = 0;
};

/// Converts from `encoding`; "auto" takes a byte-order mark's word, UTF-8 where the bytes
/// are that or have ten sound letters beyond ASCII for each bad byte, UTF-16 where every
/// other byte is zero, and else Latin-1 (as Windows extends it, code page 1252). An error
/// says what the bytes are not.
[[nodiscard]] expected<csv_text> to_utf8(std::string bytes, const std::string& encoding);

/// Converts what was read from a file, with whose name errors begin; a zero byte is an
/// error.
[[nodiscard]] expected<csv_text>
text_of_file(std::string bytes, const std::string& origin, const std::string& encoding);

/// Whether it begins as UTF-16 does, with or without a byte-order mark.
[[nodiscard]] bool is_utf16(std::string_view bytes);

/// Says how a text was read that is not sound UTF-8; empty: it is.
[[nodiscard]] std::string encoding_note(const csv_text& text);

} // namespace clade
