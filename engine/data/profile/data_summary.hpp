#pragma once

#include "engine/data/profile/infer_columns.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace clade {

/// Returns the content of a table and the part of it that is taken, a line each, for
/// people: rows, the kinds of the columns, the target, blanks, and the notes. `examples`
/// of its rows are used. None of an array.
[[nodiscard]] std::vector<std::string> data_summary(const inferred_data& inferred,
                                                    std::uint64_t examples);

} // namespace clade
