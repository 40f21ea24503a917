#pragma once

#include <string_view>

namespace clade {

/// Whether a name comes before another, numbers in them by size: "v2" before "v10".
[[nodiscard]] bool in_natural_order(std::string_view a, std::string_view b);

} // namespace clade
