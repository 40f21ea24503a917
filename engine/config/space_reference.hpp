#pragma once

#include <string>

namespace clade {

/// What a search-space file may say: its forms, limits, operators and hyperparameters, as
/// Markdown that is readable in a terminal too. What `clade help search-spaces` prints.
[[nodiscard]] std::string space_reference_text();

/// The operators alone, with their settings: what `clade help operators` prints.
[[nodiscard]] std::string operator_reference_text();

} // namespace clade
