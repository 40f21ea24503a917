#pragma once

#include "engine/data/reading/data_set.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace clade {

/// All of a data set but its features, for the cache: in this machine's byte order.
[[nodiscard]] std::string cached_form(const data_set& data);

/// Any bytes give a data set or nothing.
[[nodiscard]] std::optional<data_set> parse_cached_form(std::string_view bytes);

} // namespace clade
