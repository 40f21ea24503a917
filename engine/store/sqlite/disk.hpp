#pragma once

#include "genome/base/error.hpp"

#include <filesystem>
#include <string>
#include <system_error>

namespace clade {

/// "runs/x/run.db: cannot be written: No space left on device", with `what` being "be
/// written".
[[nodiscard]] tl::unexpected<error> disk_error(const std::filesystem::path& file,
                                               const std::string& what,
                                               const std::error_code& why);

/// Returns the error that `errno` has.
[[nodiscard]] std::error_code last_error();

/// When it returns, the disk has the names of the folder's files.
[[nodiscard]] expected<void> sync_folder(const std::filesystem::path& folder);

} // namespace clade
