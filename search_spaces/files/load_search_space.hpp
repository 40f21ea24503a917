#pragma once

#include "genome/base/error.hpp"
#include "search_spaces/operators/search_space.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace clade {

/// Reads a search space. An unknown key, a value out of range, an empty space is refused:
/// "file:line: ...", with the nearest known key.
[[nodiscard]] expected<search_space> load_search_space(const std::filesystem::path& file);

/// Reads a search space from text, such as `to_toml` writes. It may not include others;
/// `origin` names it in messages.
[[nodiscard]] expected<search_space> parse_search_space(std::string_view text,
                                                        std::string_view origin);

/// The whole space as one TOML document, includes resolved: what is stored with a run.
[[nodiscard]] std::string to_toml(const search_space& space);

} // namespace clade
