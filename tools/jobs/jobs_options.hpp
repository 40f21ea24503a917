#pragma once

#include "genome/base/error.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace clade {

/// The options that people give `clade jobs`, on the command line or in a jobs.toml with
/// the same names. Options that are left out are empty.
struct jobs_options {
  /// Folders with scripts, or scripts.
  std::vector<std::string> folders{};
  std::vector<std::string> include_pattern{}, only{}, exclude{};
  bool parallel = false; ///< The default; for those who say it.
  bool sequential = false, oversubscribe = false;
  std::optional<std::uint32_t> max_workers{}, epochs{}, folds{}, batch{}, retries{};
  std::vector<std::string> extra_arg{};
  std::string timeout{}, memory{}; ///< "10min", "2GiB"
  std::string directory{};         ///< The folder in which the scripts run.
  std::string output{};            ///< The folder of logs/ and summaries/.
  std::string slots{};
};

/// Reads a jobs.toml into what `options` leaves open. Paths in it are relative to its
/// folder, and the scripts run there unless it says otherwise. A key that it does not have
/// is an error, "jobs.toml:3: ...".
[[nodiscard]] expected<void> read_jobs_file(const std::filesystem::path& file,
                                            jobs_options& options);

/// The limits that options say as text.
struct job_limits {
  std::chrono::microseconds timeout{0}; ///< 0: none.
  std::uint64_t memory_bytes = 0;       ///< 0: none.
};
[[nodiscard]] expected<job_limits> limits_of(const jobs_options& options);

} // namespace clade
