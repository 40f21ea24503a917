#pragma once

#include "search_spaces/operators/operators.hpp"

#include <string>

namespace clade {

/// Returns the reference of search-space files: their forms, limits, operators and
/// hyperparameters, as Markdown that is readable in a terminal too. The command `clade
/// help search-spaces` prints it.
[[nodiscard]] std::string space_reference_text();

/// Returns the values that a setting of an operator may have: "odd, 1 to 15, default 3";
/// of texts the first is the default.
[[nodiscard]] std::string values_text(const setting_entry& s);

} // namespace clade
