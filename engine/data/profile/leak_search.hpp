#pragma once

#include "engine/data/bytes/csv_rows.hpp"
#include "engine/data/columns/csv_form.hpp"
#include "engine/data/leaks/target_leak.hpp"
#include "engine/data/profile/data_profile.hpp"

#include <string>
#include <vector>

namespace clade {

/// A sample of the rows of a table, by column, and whether each field is blank.
struct sampled_rows {
  std::vector<sampled_column> columns;
  std::vector<sampled_column> blanks;  ///< Codes 0 and 1; empty where there is no blank.
  std::vector<sampled_column> targets; ///< One, or those of `data_profile::targets`.
};

/// Takes at most 20,000 rows, and about 2,000,000 fields, evenly over the table. `rows` are
/// all of them, and `targets` those of a file of their own; empty: a column has the target.
[[nodiscard]] sampled_rows sample_rows(const data_profile& p, csv_rows rows,
                                       const csv_form& form,
                                       const std::vector<std::string>& targets);

/// Adds a suspicion for each used column that gives a target away, by its values or by its
/// blanks, and for those that do so together.
void suspect_leaks(data_profile& p, const sampled_rows& sample);

} // namespace clade
