#pragma once

#include "engine/data/profile/data_profile.hpp"

#include <string>

namespace clade {

/// Returns the text that `clade new` prints of data: a table of its columns, the target,
/// the split, and what is suspicious.
[[nodiscard]] std::string profile_table(const data_profile& data);

/// The same as one JSON object on one line, {"event": "profile", ...}.
[[nodiscard]] std::string profile_json(const data_profile& data);

} // namespace clade
