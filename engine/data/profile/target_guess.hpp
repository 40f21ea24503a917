#pragma once

#include "engine/data/profile/data_profile.hpp"

#include <span>
#include <string_view>

namespace clade {

/// The place of a table's target, and how that is known.
struct target_guess {
  std::size_t column = 0;
  target_reason reason = target_reason::last;
};

/// Guesses the target of a table whose columns have names, or not (`names`), by the last
/// word of each name ("class" of "wine_class"). In this order:
///   * the one column with a name that targets alone have: "target", "label", "outcome",
///     "response" and the like;
///   * the last column, if it is named like what people predict ("price", "churned",
///     "survived"), or "class" or "y";
///   * the one column that is named like what people predict;
///   * the one column named "class" or "y", which can be something else: the class in
///     which people travel, a coordinate beside "x" and "z";
///   * the last column.
/// Fails, with the columns that could be meant, where two columns are equally likely, or
/// where the last column can be no target (an identifier, a date, a text, a constant) or
/// is named like what describes a case ("age", "month", "city").
[[nodiscard]] expected<target_guess> guess_target(std::span<const column_profile> columns,
                                                  bool names);

/// Whether a column of these values is to be told apart by classes or predicted as a
/// number. Texts are classes, but not a few among more than 20 different values of which
/// nine of ten are numbers. Numbers are classes if they are whole and at most 2 different
/// ones, or at most 20 that follow each other without a gap (0 to 9, 1 to 5), each with
/// two rows at least and 5 in the mean; other numbers are numbers. Lists of labels are
/// labels.
[[nodiscard]] learning_task task_of(const column_profile& target);

/// Whether values are lists of labels, such as "red|round": a fifth of them at least have
/// several, separated by | ; or a comma, and there are fewer labels than lists.
[[nodiscard]] bool are_label_lists(const column_profile& target);

} // namespace clade
