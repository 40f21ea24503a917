#pragma once

#include "engine/data/csv_rows.hpp"
#include "engine/data/data_params.hpp"

#include <string>
#include <string_view>

namespace clade {

/// How a table is written down.
struct csv_form {
  csv_dialect dialect;
  char decimal = '.';

  friend bool operator==(const csv_form&, const csv_form&) = default;
};

/// What `params` say of it, and where they say "auto", what the text shows; `likely` is
/// the decimal mark where it shows nothing. The rules are at the top of csv_form.cpp.
[[nodiscard]] csv_form find_form(std::string_view text, const data_params& params,
                                 char likely = '.');

/// A file's text in UTF-8.
struct csv_text {
  std::string text;
  std::string encoding; ///< "utf-8", "utf-16" or "latin-1", in which it was.
};

/// Converts from `encoding`; "auto" takes a byte-order mark's word, UTF-8 where the bytes
/// are that, UTF-16 where every other byte is zero, and else Latin-1 (as Windows extends
/// it, code page 1252). An error says what the bytes are not.
[[nodiscard]] expected<csv_text> to_utf8(std::string bytes, const std::string& encoding);

} // namespace clade
