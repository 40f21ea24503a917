#pragma once

#include "engine/data/reading/preprocessing.hpp"

#include <string>

namespace clade {

// The parts of model.py (python_source.hpp) that make rows of a data file tensors.

/// Whether examples are rows of a table, rather than images or arrays.
[[nodiscard]] bool is_table(const preprocessing& how);

/// COLUMNS, NUMBERS, TARGET_COLUMN and BLANKS, of a table.
[[nodiscard]] std::string table_constants(const preprocessing& how);

/// The class Rows, where `takes_texts` (row_source.hpp).
[[nodiscard]] std::string rows_class(const preprocessing& how);

/// `read_rows(file)`, of a table, and `encode(rows)`.
[[nodiscard]] std::string reading_functions(const preprocessing& how);

} // namespace clade
