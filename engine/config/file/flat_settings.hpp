#pragma once

#include "genome/base/error.hpp"

#include <map>
#include <string>
#include <string_view>

namespace clade {

/// A TOML document key by key: "evolution.population" -> "48". Lists and what is in them
/// stay one value each, written as TOML does. Broken TOML is `invalid_input`, "origin:3:
/// ...".
[[nodiscard]] expected<std::map<std::string, std::string>>
flat_settings(std::string_view text, std::string_view origin);

} // namespace clade
