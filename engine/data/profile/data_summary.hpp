#pragma once

#include "engine/data/profile/infer_columns.hpp"
#include "engine/data/reading/data_set.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace clade {

/// Returns the content of a table and the part of it that is taken, a line each, for
/// people: rows, the kinds of the columns, the target, blanks, and the notes. `examples`
/// of its rows are used. For series, it is
/// what is forecast; none of an array.
[[nodiscard]] std::vector<std::string> data_summary(const inferred_data& inferred,
                                                    std::uint64_t examples);

/// Says which columns are scaled by their quartiles, in a line; empty where none is.
[[nodiscard]] std::string scale_note(const data_set& data);

} // namespace clade
