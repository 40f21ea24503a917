#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// The limits that control groups leave of a machine to a process: the least of what its
/// own group and each group above it say. Nothing: no limit.
struct cgroup_limits {
  /// The cores by time: 1.5 is one and a half of every second.
  std::optional<double> cores;
  std::optional<std::uint64_t> memory_total;
  /// Under that limit; files that were read and can be dropped again count as free.
  std::optional<std::uint64_t> memory_free;

  friend bool operator==(const cgroup_limits&, const cgroup_limits&) = default;
};

/// The folders of a process's groups, its own first and then those above it, of version 2
/// and of the two hierarchies of version 1 that matter here.
struct cgroup_folders {
  std::vector<std::filesystem::path> unified;
  std::vector<std::filesystem::path> cpu;
  std::vector<std::filesystem::path> memory;
};

/// From the texts of /proc/self/cgroup and /proc/self/mountinfo. A group that lies
/// outside of what is mounted, as in a container, is the mount's own root.
[[nodiscard]] cgroup_folders find_cgroups(std::string_view membership,
                                          std::string_view mounts);

/// Reads the limits of this process. All paths are taken below `root`, "/" but in tests.
/// A file that is not there is no limit.
[[nodiscard]] cgroup_limits read_cgroup_limits(const std::filesystem::path& root);

/// The whole text of a small file; nothing if it cannot be read.
[[nodiscard]] std::optional<std::string>
read_small_file(const std::filesystem::path& file);

/// The number after a key that begins a line: "MemTotal:   24684100 kB" gives 24684100.
[[nodiscard]] std::optional<std::uint64_t> number_after(std::string_view text,
                                                        std::string_view key);

} // namespace clade
