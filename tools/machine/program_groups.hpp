#pragma once

#include "genome/base/error.hpp"

#include <filesystem>

namespace clade {

/// Finds the control group (version 2) below which this process may make groups for
/// programs and limit their memory: its own, where that was given over to it ("Delegation"
/// in the kernel's cgroup-v2). Looks and changes nothing. All paths are taken below
/// `root`, "/" but in tests. An error says what is missing.
[[nodiscard]] expected<std::filesystem::path>
find_program_groups(const std::filesystem::path& root = "/");

/// The same, ready for use: its processes go into one group below it, as a group that has
/// processes may not limit those below, and groups that killed processes have left there
/// are removed.
[[nodiscard]] expected<std::filesystem::path>
prepare_program_groups(const std::filesystem::path& root = "/");

} // namespace clade
