#pragma once

#include "engine/report/diff.hpp"

#include <string>

namespace clade {

/// The run that a person means by `name`, to be read as it is at this moment whatever is
/// recorded meanwhile.
[[nodiscard]] expected<opened_run> open_stored_run(const std::string& name);

} // namespace clade
