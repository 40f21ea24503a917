#pragma once

#include "engine/data/columns/data_params.hpp"
#include "engine/data/formats/series_set.hpp"
#include "genome/base/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// The series of a table with a row for each step, row by row: (key, time, value, ...,
/// target), and one target for each series.
struct long_table {
  /// In order of appearance; the line of a series is that of its first row.
  series_set set;
  std::vector<std::string> keys; ///< The names of the columns that tell series apart.
  std::vector<std::vector<std::string>> labels; ///< By series, its values of these.
  std::vector<std::string> channels;            ///< The names of the columns of values.
  /// By series, its value of `split_column`; empty without one.
  std::vector<std::string> splits{};
  std::uint64_t without_target = 0; ///< Series that are left out, as they have none.
};

/// The use that a table of series is read for.
enum class long_rows : std::uint8_t { to_learn, to_predict };

/// Reads a table of series as `params` (`series`, `time`, `target`, `columns`) say. Rows may be
/// in any order of time; without a column of times they are in order. If the times of a
/// series are evenly spaced, steps that are left out are gaps; else each row is a step. The
/// columns of values are those that `params.columns` call numbers, or else all that nothing
/// is said of, in order of their names (numbers within these by size), so that files with
/// other orders of columns are read alike. A table to be predicted may lack the target.
/// Errors have a line for each thing that is wrong: a time that is there twice in a series,
/// a target that changes within one, a value that is no number.
[[nodiscard]] expected<long_table> read_long_table(std::string_view text,
                                                   std::string_view origin,
                                                   const data_params& params,
                                                   long_rows rows = long_rows::to_learn);

} // namespace clade
