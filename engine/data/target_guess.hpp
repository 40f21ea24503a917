#pragma once

#include "engine/data/data_profile.hpp"

#include <span>
#include <string_view>

namespace clade {

/// Where the target of a table is, and how that is known.
struct target_guess {
  std::size_t column = 0;
  target_reason reason = target_reason::last;
};

/// Guesses the target of a table whose columns have names, or not (`names`). In this
/// order:
///   * the one column with a name for targets: "target", "label", "class", "y",
///     "outcome", "response" and the like, alone or as the last word ("wine_class");
///   * the last column, if its last word names what people predict ("price", "churned",
///     "quality", "survived"), otherwise the one column of which that is true;
///   * the last column.
/// Fails, with the columns that could be meant, where two columns are equally likely, or
/// where the last column can be no target: an identifier, a date, a text, a constant.
[[nodiscard]] expected<target_guess> guess_target(std::span<const column_profile> columns,
                                                  bool names);

/// Whether a column of these values is to be told apart by classes or predicted as a
/// number. Texts are classes. Numbers are classes if they are whole and at most 2
/// different ones, or at most 20 that follow each other without a gap (0 to 9, 1 to 5),
/// each with 5 rows in the mean; other numbers are numbers.
[[nodiscard]] learning_task task_of(const column_profile& target);

} // namespace clade
