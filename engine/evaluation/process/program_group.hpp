#pragma once

#include "engine/evaluation/program_host.hpp"
#include "genome/base/error.hpp"
#include "genome/base/unique_fd.hpp"

#include <cstdint>
#include <filesystem>
#include <utility>

namespace clade {

/// Whether the kernel has killed something in this group, as it took more than its memory.
[[nodiscard]] bool killed_for_memory(const std::filesystem::path& group);

/// A control group (version 2) for one program and all that it starts: the kernel keeps
/// them within their memory together, and kills them together.
class program_group {
public:
  /// Makes a group below `base`, whose children have the memory controller, for
  /// `memory_bytes`; 0: unlimited. An error is the system's.
  [[nodiscard]] static expected<program_group> make(const std::filesystem::path& base,
                                                    std::uint64_t memory_bytes);
  program_group(program_group&& other) noexcept
      : folder_(std::exchange(other.folder_, {})),
        members_(std::move(other.members_)) {}
  program_group& operator=(program_group&&) = delete;
  /// Kills what is still in it, and removes it. Waits for that for a moment; what is left
  /// then `remove_left_groups` removes.
  ~program_group();

  /// Has the calling process, a fresh fork, enter. Allocates nothing. False: see errno.
  [[nodiscard]] bool enter() const;
  [[nodiscard]] bool out_of_memory() const { return killed_for_memory(folder_); }

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

private:
  program_group(std::filesystem::path folder, unique_fd members)
      : folder_(std::move(folder)),
        members_(std::move(members)) {}

  std::filesystem::path folder_;
  unique_fd members_;
};

/// Returns the folder in which groups are to be made; empty if the host has none, or may
/// make none.
[[nodiscard]] std::filesystem::path groups_of(const program_host& host);

/// Removes the empty groups below `base` of processes that were killed.
void remove_left_groups(const std::filesystem::path& base);

} // namespace clade
