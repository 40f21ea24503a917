#pragma once

#include "engine/data/arrays/array_values.hpp"
#include "engine/data/columns/examples.hpp"
#include "engine/data/formats/file_bytes.hpp"
#include "engine/data/reading/preprocessing.hpp"

#include <string>

namespace clade {

/// Refuses the name of an array where the file is no archive.
[[nodiscard]] expected<void> no_archive(const array_source& from);

/// Reads the examples' array from `file`, the content of `from.examples`, and their targets
/// from it too, if it is an archive, or from a file of their own.
[[nodiscard]] expected<examples> read_arrays(const example_files& from, file_bytes file,
                                             const data_params& params);

/// Does so of an array that is a file of its own.
[[nodiscard]] expected<examples>
read_array(const example_files& from, array_values values, const data_params& params);

/// Reads an array that is to be predicted, in the order of its file; without a target, if
/// it has one; `file` is the content of its file.
[[nodiscard]] expected<examples> read_new_array(const array_source& from,
                                                const file_bytes& file,
                                                const data_params& params,
                                                const preprocessing& how);
/// Does so of an array whose values are these.
[[nodiscard]] expected<examples>
read_new_array(const std::string& origin, array_values values, const preprocessing& how);

} // namespace clade
