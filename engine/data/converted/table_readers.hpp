#pragma once

#include "engine/data/converted/converted_table.hpp"

#include <filesystem>
#include <string_view>

// Each reader makes the text of a CSV of a file's bytes, or says what is wrong with them.
// Memory is bounded by the bytes, by `most_table_columns` and by `which.most_bytes`.

namespace clade {

/// An object a line, an array of objects, or one object, which is a row. Fields of objects
/// within objects are columns "outer.inner". Lists are left out, and noted.
[[nodiscard]] expected<converted_table> read_json_table(std::string_view bytes,
                                                        const table_choice& which);

/// A table of an SQLite database, but no view, which may compute without end.
[[nodiscard]] expected<converted_table> read_sqlite_table(std::string_view bytes,
                                                          const table_choice& which);

/// Refuses a database with changes that lie in a file beside it, and not yet in it.
[[nodiscard]] expected<void> check_sqlite_journal(const std::filesystem::path& file);

/// A sheet of a workbook (.xlsx). The lines of the text are the rows of the sheet, titles
/// and blank rows among them.
[[nodiscard]] expected<converted_table> read_workbook(std::string_view bytes,
                                                      const table_choice& which);

/// ARFF, with rows in full or sparse. Nominal attributes and strings are texts.
[[nodiscard]] expected<converted_table> read_arff(std::string_view bytes,
                                                  const table_choice& which);

/// LIBSVM: columns "x1", "x2", ... (from "x0" on where an index is 0), and last "label".
[[nodiscard]] expected<converted_table> read_libsvm(std::string_view bytes,
                                                    const table_choice& which);

/// Parquet, or a file or stream of Arrow, by the module beside the program that Arrow's
/// library is linked to. Fields of a struct are columns "outer.inner".
[[nodiscard]] expected<converted_table> read_arrow_table(std::string_view bytes,
                                                         const table_choice& which);

} // namespace clade
