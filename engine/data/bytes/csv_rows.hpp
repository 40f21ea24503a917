#pragma once

#include "genome/base/error.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// One row of comma-separated text: views of the text, or of `unquoted`.
struct csv_row {
  std::uint64_t line = 0;
  std::vector<std::string_view> fields;
  /// The texts that the views of quoted fields look at.
  std::deque<std::string> unquoted;
};

/// The marks between and around the fields of a table.
struct csv_dialect {
  char delimiter = ',';
  char quote = '"'; ///< 0: there is none.
  /// A row is a line's first word and the text behind it; there are no other marks.
  bool first_blank = false;

  friend bool operator==(const csv_dialect&, const csv_dialect&) = default;
};

/// Reads rows one after the other; the text outlives it. Copies go on from where it is.
class csv_rows {
public:
  /// `passed_over` lines come before the first row.
  explicit csv_rows(std::string_view text, csv_dialect dialect = {},
                    std::uint64_t passed_over = 0)
      : text_(text),
        dialect_(dialect),
        ends_{dialect.delimiter, '\n'} {
    if (text_.starts_with("\xEF\xBB\xBF"))
      text_.remove_prefix(3);
    for (; line_ <= passed_over && position_ < text_.size(); ++line_)
      position_ = std::min(text_.find('\n', position_), text_.size() - 1) + 1;
  }

  /// False at the end. An error, of a quote that is not closed, has no place yet.
  [[nodiscard]] expected<bool> next(csv_row& r);

private:
  [[nodiscard]] bool next_line(csv_row& r);
  [[nodiscard]] expected<void> read_field(csv_row& r);
  [[nodiscard]] expected<void> read_quoted(csv_row& r);
  [[nodiscard]] std::size_t end_of_field() const;
  bool pass_spaces();

  std::string_view text_;
  csv_dialect dialect_;
  std::array<char, 2> ends_; ///< The characters that end a field.
  std::size_t position_ = 0;
  std::uint64_t line_ = 1;
};

} // namespace clade
