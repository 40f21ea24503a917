#pragma once

#include "engine/data/bytes/csv_rows.hpp"
#include "engine/data/columns/column_names.hpp"
#include "engine/data/columns/csv_form.hpp"
#include "engine/data/columns/data_params.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// The lines before the rows of a table.
struct csv_head {
  std::string origin;      ///< The file, for messages.
  std::uint64_t line = 1;  ///< The line of the names, or of the first row.
  std::size_t columns = 0; ///< The target among them.
  /// The columns have these names, no two of them equal; empty where it has none.
  std::vector<std::string> names;
  std::vector<repeated_name> repeated; ///< The names that several columns had.
  /// The names of the labels 0, 1, ... that scikit-learn's first line gives.
  std::vector<std::string> class_names;

  /// "column 3 ("plan")".
  [[nodiscard]] std::string column(std::size_t i) const;
  /// "plan", or "3" where the columns have no names.
  [[nodiscard]] std::string name(std::size_t i) const;
  /// Says that a row has so many fields, and not one for each column.
  [[nodiscard]] std::string other_length(std::size_t fields) const;
  [[nodiscard]] tl::unexpected<error> wrong(std::uint64_t at, std::string message) const;
  /// The place of the column that is called `name`, by name, number or "last". `use` says
  /// in errors what it is for.
  [[nodiscard]] expected<std::size_t> find_column(const std::string& name,
                                                  const std::string& use) const;
  /// The places of the columns `params.targets`, or of the one `params.target`.
  [[nodiscard]] expected<std::vector<std::size_t>>
  find_targets(const data_params& params) const;
};

/// Reads up to the first row, which is then in `r`, unless the head ends with names: then
/// `r` holds them. The rules are at the top of csv_head.cpp.
[[nodiscard]] expected<csv_head> read_head(csv_rows& rows, csv_row& r,
                                           std::string_view origin,
                                           const data_params& params,
                                           const csv_form& form);

/// Shows `take` each row behind the head; `r` is what `read_head` left there. An error
/// where a row cannot be told from the next.
template<class Take>
[[nodiscard]] expected<void> for_each_row(csv_rows& rows, csv_row& r,
                                          const csv_head& head, Take take) {
  if (head.names.empty())
    take(r);
  auto more = rows.next(r);
  for (; more && *more; more = rows.next(r))
    take(r);
  if (!more)
    return head.wrong(r.line, more.error().message);
  return {};
}

/// The place of the column that a text names by its number from 1, or as "last".
[[nodiscard]] std::optional<std::size_t> numbered_column(const std::string& name,
                                                         std::size_t columns);

/// Whether a field of the target's column says nothing. Any spelling of a blank does
/// where numbers are to be predicted; a class may be called "NA" or "-", and an empty list
/// of labels says that there is none. Any does in `several` columns of targets, too: each
/// is of numbers, or says whether an example has a label.
[[nodiscard]] bool lacks_target(std::string_view field, const learning_task& task,
                                bool several = false);

} // namespace clade
