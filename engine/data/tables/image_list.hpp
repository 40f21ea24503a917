#pragma once

#include "engine/data/columns/data_params.hpp"
#include "engine/data/numbers/number_form.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// The images that a table names, a row each.
struct image_list {
  std::vector<std::filesystem::path> files; ///< The names in the table.
  std::vector<std::uint64_t> lines;
  /// By image and column of targets; blank where there is none.
  std::vector<std::string> targets;
  std::vector<std::string> splits; ///< In `params.split_column`; empty without one.
  std::string target; ///< The column's name, if it has one and is the only one.
  /// The names of several columns of targets, and the form of each column's numbers.
  std::vector<std::string> several;
  std::vector<number_form> numbers;
  std::uint64_t dropped = 0; ///< Rows without a target.
};

/// The rows to read of a table that names images: those to learn from have a target, and
/// those to predict may have none, or no such column.
enum class listed_rows : std::uint8_t { to_learn_from, to_predict };

/// Reads the columns `params.images` and `params.target` of a table. Rows to learn from
/// that have no target are left out as `params.blanks` says; rows without an image are
/// errors. `origin` is the file, for messages.
[[nodiscard]] expected<image_list>
parse_image_list(std::string_view text, std::string_view origin,
                 const data_params& params,
                 listed_rows which = listed_rows::to_learn_from);

/// Returns the folder at which the paths of a table begin.
[[nodiscard]] std::filesystem::path image_folder_of(const std::filesystem::path& table,
                                                    const data_params& params);

} // namespace clade
