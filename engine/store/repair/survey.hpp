#pragma once

#include "engine/store/repair/check.hpp"
#include "engine/store/sqlite/connection.hpp"

namespace clade {

struct survey_params {
  const std::filesystem::path& file;
  const goal_reader& goal_of;
  /// A fresh store, for what is whole of the file.
  std::function<connection()> make_copy;
  bool keep_copy = false; ///< Weights go into it too, and it is complete at the end.
  bool locked = false;    ///< By the caller.
};

/// Examines a store by copying what is whole of it (check.hpp). It is closed at the end,
/// and so is the copy.
[[nodiscard]] expected<store_condition> survey(const survey_params& params);

} // namespace clade
