#pragma once

#include "genome/base/error.hpp"

#include <sys/types.h>

#include <cstdint>
#include <filesystem>

namespace clade {

/// A queue takes nothing and begins nothing where less than this is free on its disk: what
/// is left is for recording how what runs ends.
inline constexpr std::uint64_t least_room_bytes = std::uint64_t{1} << 20;

/// Fails (`io`) with a sentence where the disk of that folder has less than
/// `least_room_bytes`, or no place for another file.
[[nodiscard]] expected<void> check_room(const std::filesystem::path& folder);

/// Returns what files on the disk of that folder take that processes below `root` have open
/// to write, each file once.
[[nodiscard]] std::uint64_t bytes_being_written(pid_t root,
                                                const std::filesystem::path& folder);

} // namespace clade
