#pragma once

#include "genome/variation/change.hpp"

#include <string_view>

namespace clade {

/// Returns the changes that a sentence tells of. Records of earlier versions have the
/// sentence alone; whoever reads one calls this, so that all others see data. `to_text` of
/// the result is `text`, whatever it says: what is no sentence of
/// genome/variation/change.hpp is `given`.
[[nodiscard]] std::vector<change> parse_old_change_text(std::string_view text);

} // namespace clade
