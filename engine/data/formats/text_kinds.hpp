#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace clade {

/// The kinds of files, beside CSV, that hold tables. They are read by becoming the text of
/// a CSV (`../converted/converted_table.hpp`).
enum class table_kind : std::uint8_t {
  json,     ///< An object for each row, in lines or in an array.
  sqlite,   ///< A table of an SQLite database.
  workbook, ///< A sheet of Excel (.xlsx, .xlsm).
  arff,     ///< Weka's.
  libsvm,   ///< "label index:value index:value ...".
  parquet,
  arrow, ///< Feather and the other files and streams of Arrow.
};

/// A kind of text that is no CSV, and what to do with a file of it.
struct text_kind {
  std::string_view kind, way;
  /// The kind of table that is read from it; nothing: the kind is refused.
  std::optional<table_kind> table{};
  bool sentences = false; ///< Lines of sentences, each of which a model may take.
};

/// Tells what a text is that is no CSV: JSON, JSON lines, HTML, XML, ARFF, .ts, LIBSVM,
/// sentences. Nothing where it may be a CSV.
[[nodiscard]] std::optional<text_kind> text_kind_of(std::string_view text);

/// Tells the kind from what is in a file, its beginning at least. A workbook is known for
/// certain by the end of the file, and by its beginning where Excel or a library of Python
/// wrote it.
[[nodiscard]] std::optional<table_kind> table_kind_of(std::string_view bytes);

/// Whether the beginning of a zip archive is that of a workbook.
[[nodiscard]] bool begins_as_workbook(std::string_view bytes);

} // namespace clade
