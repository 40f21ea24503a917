#pragma once

#include "search_spaces/operators/search_space.hpp"

#include <span>
#include <string>
#include <string_view>

namespace clade {

/// A file of search_spaces/, as it was when the program was built.
struct built_in_file {
  std::string_view name; ///< "mlp.toml"
  std::string_view text;
};

/// Every such file, also those that only others include (hyperparameters.toml).
[[nodiscard]] std::span<const built_in_file> built_in_files();

/// "image", "mlp" and so on: the search spaces that need no file.
[[nodiscard]] std::vector<std::string> built_in_spaces();

/// Whether `name` is that of a built-in search space: "mlp" or "mlp.toml".
[[nodiscard]] bool is_built_in_space(std::string_view name);

/// Reads a built-in search space. Its name, for messages, is "mlp".
[[nodiscard]] expected<search_space> load_built_in_space(std::string_view name);

} // namespace clade
