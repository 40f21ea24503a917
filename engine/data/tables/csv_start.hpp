#pragma once

#include "engine/data/bytes/csv_rows.hpp"
#include "engine/data/columns/column_names.hpp"
#include "engine/data/columns/csv_form.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// The beginning of a CSV, found without knowing its target.
struct csv_start {
  std::string header; ///< "names", "none" or "counts", as `data_params::header` has them.
  bool unclear = false; ///< Names might be a row, or a row names.
  /// By column, no two of them equal; empty texts where there are none.
  std::vector<std::string> names;
  std::vector<repeated_name> repeated; ///< The names that several columns had.
  /// The names of classes in scikit-learn's "counts".
  std::vector<std::string> class_names;
  csv_rows rows; ///< The rows that follow the header.
};

/// Finds out what the first line is, unless `header` says it: names where it holds the
/// target that is asked for by name, and else as `guess_first_line` has it. Fails where
/// there is no row; errors begin with `origin`.
[[nodiscard]] expected<csv_start> find_csv_start(csv_rows rows, std::string_view origin,
                                                 const csv_form& form = {},
                                                 std::string_view target = {},
                                                 std::string_view header = "auto");

} // namespace clade
