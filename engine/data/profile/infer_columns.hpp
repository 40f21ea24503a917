#pragma once

#include "engine/data/columns/data_params.hpp"
#include "engine/data/tables/table_profile.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace clade {

/// The content of a table and the part of it that is taken.
struct inferred_data {
  /// Nothing in it is left to be found out: the kinds of the columns that are no numbers,
  /// what is ignored, and the form of the file.
  data_params params;
  /// For a CSV file: the content of its columns.
  std::optional<table_profile> profile;
  std::size_t target = 0;           ///< Which of these columns is the target.
  std::uint64_t without_target = 0; ///< Rows that are left out since they have none.
  /// The kind that each of these columns was taken for, the target's being a number.
  std::vector<encoding_kind> kinds;
  /// Notes on it, a line each: columns that are ignored, and why.
  std::vector<std::string> notes;
};

/// Fills in what `params` do not say of the file's columns, where they could not be read
/// as numbers otherwise: a column of texts becomes what its profile says, and one that
/// networks can make nothing of (an identifier, free text, no value at all) is ignored.
/// Columns of numbers stay numbers, also those with a few other values, which are then
/// errors to who reads them. Nothing is inferred of arrays and images.
[[nodiscard]] expected<inferred_data> infer_columns(const data_params& params);

} // namespace clade
