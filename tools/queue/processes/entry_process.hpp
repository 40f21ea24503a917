#pragma once

#include "engine/evaluation/process/guarded_process.hpp"
#include "genome/base/error.hpp"

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace clade {

struct entry_process_params {
  std::vector<std::string> command; ///< The program's path and its arguments.
  std::vector<std::string> environment{};
  std::filesystem::path directory{};
  std::filesystem::path log{};   ///< Its output and errors are appended.
  std::vector<unsigned> cores{}; ///< Empty: those of this process.
};

/// Starts the process of an entry. Its log is locked until the last of what it has started
/// has ended; `conflict`: somebody has it locked.
[[nodiscard]] expected<std::unique_ptr<guarded_process>>
start_entry_process(const entry_process_params& params);

/// Waits until what writes this log has ended: when a server is killed, the guards of its
/// entries end them a moment later. `conflict`: something is still there after that time.
[[nodiscard]] expected<void> await_former(const std::filesystem::path& log,
                                          std::chrono::steady_clock::time_point until);

} // namespace clade
