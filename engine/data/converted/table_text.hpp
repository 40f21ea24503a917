#pragma once

#include "genome/base/error.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// More columns than this are not read from any kind of table.
inline constexpr std::size_t most_table_columns = 65536;

/// Writes the text of a CSV, field by field.
class table_text {
public:
  explicit table_text(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}

  /// Writes the names of the columns as line 1, an empty one as "column 3".
  [[nodiscard]] expected<void> names(std::span<const std::string> names);
  /// Adds a field of any text. Line ends and zero bytes become spaces, so that a line is a
  /// row.
  void field(std::string_view text);
  void field(double number);
  void field(std::int64_t number);
  void field(bool yes) { field(std::string_view(yes ? "true" : "false")); }
  void blank() { begin(); }
  /// Ends the row. Fails where the text has become too long.
  [[nodiscard]] expected<void> end_row();
  /// Adds a line that is no row.
  [[nodiscard]] expected<void> empty_line();

  [[nodiscard]] std::string take() { return std::move(text_); }

private:
  void begin();

  std::string text_;
  std::uint64_t most_bytes_;
  std::size_t fields_ = 0; ///< How many this row has.
};

/// Finds out which columns of a loosely typed file hold texts for certain: every value is
/// a text, and one is a number that begins with a zero ("007"), as no number is written.
class text_columns {
public:
  void add_text(std::size_t column, std::string_view text);
  void add_other(std::size_t column);
  [[nodiscard]] std::vector<bool> of(std::size_t columns) const;

private:
  struct seen {
    bool coded = false, other = false;
  };
  seen& at(std::size_t column);

  std::vector<seen> columns_;
};

/// "2026-01-31" or "2026-01-31 14:05:00.5", of seconds since 1970 and their nanoseconds.
/// Empty outside the years 0 to 9999.
[[nodiscard]] std::string date_text(std::int64_t seconds, std::uint32_t nanoseconds,
                                    bool with_time);

} // namespace clade
