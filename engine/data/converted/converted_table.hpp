#pragma once

#include "genome/base/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// The part of a file that is asked for, and how much may be made of it.
struct table_choice {
  /// The table of a database or the sheet of a workbook; empty: the only one.
  std::string name{};
  std::string_view key =
      "array"; ///< The key of an experiment that is `name`; for messages.
  /// LIBSVM leaves out zeros, and so the last features: there are this many at least.
  std::size_t least_features = 0;
  std::uint64_t most_bytes = std::uint64_t{4} << 30; ///< The text is no longer.
  bool sentences = false; ///< A file of sentences is wanted, and not refused.
};

/// The facts of a table that the text which was made of it does not show.
struct table_facts {
  std::string kind; ///< "Parquet", "JSON"
  /// Whether the file has several tables, of which `data_params::array` may name one.
  bool several = false;
  /// Whether line 1 of the text holds names that the file has. Row 1 of the table is then
  /// line 2. Otherwise lines are the rows of a sheet, which may begin with a title.
  bool named = true;
  /// By column, those that hold texts also where they look like numbers: "007".
  std::vector<bool> texts{};
  std::vector<std::string> notes{}; ///< Sentences on what was left out.
  /// By row, the file that it is, below the folder that the table was made of; empty where
  /// rows are no files.
  std::vector<std::string> files{};

  /// Puts rows of the table in the place of lines of the text: "x.parquet:8: wrong"
  /// becomes "x.parquet: row 7: wrong".
  [[nodiscard]] error in_rows(error e, std::string_view origin) const;
  /// Returns the place of the row that is in that line: "x.parquet: row 7", or its file.
  [[nodiscard]] std::string row_place(std::string_view origin, std::uint64_t line) const;
};

/// A table as the text of a CSV: fields apart by commas, '.' before decimals, ISO dates,
/// "true" and "false", blanks for missing values, a line for each row.
struct converted_table {
  std::string text;
  table_facts facts;
};

} // namespace clade
