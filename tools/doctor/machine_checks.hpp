#pragma once

#include "tools/doctor/finding.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>

namespace clade {

/// The speed of the disk under a folder, measured with a file that nobody sees.
struct disk_speed {
  std::chrono::duration<double> record{0}; ///< Until 4 KiB are safe, the median.
  double bytes_per_second = 0;             ///< The rate for 32 MiB until they are safe.
  std::uint64_t free_bytes = 0;            ///< To this user.
  bool of_network = false;                 ///< NFS, SMB, or another machine's else.
};

/// Says what a disk like that is good for.
[[nodiscard]] finding judge(const disk_speed& disk, const std::filesystem::path& folder);

/// Measures where `folder` is or will be. Blocks for a second or so.
[[nodiscard]] finding check_disk(const std::filesystem::path& folder);

/// Whether this process may limit others by control groups of its own.
[[nodiscard]] finding check_control_groups(const std::filesystem::path& root = "/");

/// Whether the programs of `[command]` can be kept from a run's keys. Starts a process.
[[nodiscard]] finding check_isolation();

/// Open files, processes and address space that the system allows (`ulimit`).
[[nodiscard]] std::vector<finding> check_limits();

/// Whether something keeps the machine's clock right, as the dates of keys need.
[[nodiscard]] finding check_clock();

/// Returns the resources that `look_at_machine` sees: cores with time for them, memory,
/// GPUs.
[[nodiscard]] std::vector<finding> check_resources();

} // namespace clade
