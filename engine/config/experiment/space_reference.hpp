#pragma once

#include "search_spaces/operators/operators.hpp"

#include <string>

namespace clade {

/// What a search-space file may say: its forms, limits, operators and hyperparameters, as
/// Markdown that is readable in a terminal too. What `clade help search-spaces` prints.
[[nodiscard]] std::string space_reference_text();

/// What a setting of an operator may be: "odd, 1 to 15, default 3"; of texts the first is
/// the default.
[[nodiscard]] std::string values_text(const setting_entry& s);

} // namespace clade
