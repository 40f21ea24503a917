#pragma once

#include "engine/data/leaks/target_leak.hpp"
#include "engine/data/profile/data_profile.hpp"

#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace clade {

/// Returns the columns of a table that may be the steps of a series in each row: 20 at least,
/// of numbers, side by side, with names that count up (t0, t1, ...; 1, 2, ...), whose ranges
/// are alike. Nothing where there are none, or their names speak of pixels.
[[nodiscard]] std::optional<step_columns> counted_columns(const data_profile& p);

/// Whether the values of a row go on from column to column, as those of a series do: the mean
/// correlation of neighbours within rows is 0.7 at least; and the columns are no square image,
/// whose values are alike again one line further on. `columns` are samples of the same rows.
[[nodiscard]] bool go_on(std::span<const sampled_column> columns);

/// Takes the rows of a table for series, if their columns are such steps and either go on or
/// are said to be steps, and notes it. If other columns are to be learnt from beside them,
/// they stay columns, which is noted, too, or an error if somebody said otherwise. `sampled`
/// returns the columns of a sample of the rows.
[[nodiscard]] expected<void>
take_steps(data_profile& p, row_rule rows,
           const std::function<std::vector<sampled_column>()>& sampled);

} // namespace clade
