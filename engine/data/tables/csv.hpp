#pragma once

#include "engine/data/columns/csv_form.hpp"
#include "engine/data/columns/examples.hpp"
#include "engine/data/tables/csv_targets.hpp"

#include <string_view>

namespace clade {

/// Reads a table (RFC 4180: quotes, doubled quotes, either line ending; in the form that
/// `find_form` finds) into features and targets. `origin` names the file in messages. An
/// error has a line for each thing that is wrong (complaints.hpp). Features are finite
/// numbers, but for blanks that are to be filled, which are NaN.
/// `targets`, if there are any, are the rows' targets, and no column is one.
[[nodiscard]] expected<examples> parse_csv(std::string_view text, std::string_view origin,
                                           const data_params& params,
                                           const csv_targets* targets = nullptr);

} // namespace clade
