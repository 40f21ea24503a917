#pragma once

#include "genome/base/error.hpp"

#include <toml++/toml.h>

#include <cstddef>
#include <string_view>

namespace clade {

/// How many tables, lists and parts of dotted keys may lie in each other.
inline constexpr std::size_t deepest_toml = 32;
/// No text that is larger is parsed.
inline constexpr std::size_t most_toml_bytes = std::size_t{4} << 20;
/// No file that people write as TOML is larger.
inline constexpr std::size_t most_toml_file_bytes = std::size_t{1} << 20;
/// How many files may include each other in a chain, beside the first.
inline constexpr int deepest_include = 8;
/// How many files may belong to one search space.
inline constexpr std::size_t most_included_files = 64;

/// Parses a TOML text; the only place that calls toml++'s parser, which recurses on keys
/// and values as deep as they go, as do copying, writing and destroying its tables. So
/// what is too deep or too large is refused before it is parsed. Nodes know `origin` as
/// the path that they come from. An error begins with `origin` and the line:
/// "x.toml:3: ...".
[[nodiscard]] expected<toml::table> parse_toml(std::string_view text,
                                               std::string_view origin);

} // namespace clade
