#pragma once

#include "engine/report/base/json_parts.hpp"
#include "tools/doctor/finding.hpp"

#include <filesystem>
#include <vector>

namespace clade {

/// Returns the faults of a queue's machines as its server sees them, by what it answers
/// of them: those that are lost, have another version than `version` or a clock that
/// differs, and whether there is any slot.
[[nodiscard]] std::vector<finding> judge_queue(const ordered_json& machine,
                                               const std::string& version);

/// Whether the server of a queue can be asked from here, and what it says. `queue`: the
/// queue's folder, or the one that a user or a machine was given. Blocks for some seconds at
/// most.
[[nodiscard]] std::vector<finding> check_queue(const std::filesystem::path& queue,
                                               const std::string& version);

} // namespace clade
