#pragma once

#include "engine/data/column_names.hpp"
#include "engine/data/csv_rows.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// The beginning of a CSV, found without knowing its target.
struct csv_start {
  std::string header; ///< "names", "none" or "counts", as `data_params::header` has them.
  /// By column, no two of them equal; empty texts where there are none.
  std::vector<std::string> names;
  std::vector<repeated_name> repeated;  ///< The names that several columns had.
  std::vector<std::string> class_names; ///< Of scikit-learn's "counts".
  csv_rows rows;                        ///< What follows the header.
};

/// Finds out what the first line is:
///   * "counts": "150,4,setosa,versicolor,virginica", followed by as many rows of one
///     column more;
///   * "names": a column begins with a text and goes on with numbers only, or every
///     column holds texts, and the first line has different ones that do not come again;
///   * "none", a row, otherwise.
/// The first 200 rows are looked at. Fails where there is no row; errors begin with
/// `origin`.
[[nodiscard]] expected<csv_start> find_csv_start(csv_rows rows, std::string_view origin,
                                                 char decimal = '.');

} // namespace clade
