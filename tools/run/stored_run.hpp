#pragma once

#include "engine/report/diff.hpp"

#include <string>

namespace clade {

/// The run that a person means by `name`, to be read as it is at this moment whatever is
/// recorded meanwhile.
[[nodiscard]] expected<opened_run> open_stored_run(const std::string& name);

/// What is the matter with a store that holds no record, and what to do: of a run that
/// had begun, its log (run.db-wal) is missing.
[[nodiscard]] error nothing_recorded(const std::filesystem::path& store_file);

} // namespace clade
