#pragma once

#include "engine/queue/queue_entry.hpp"
#include "genome/base/error.hpp"
#include "tools/queue/machine/writes_seen.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

namespace clade {

/// A queue takes nothing and begins nothing where less than this is free on its disk: what
/// is left is for recording how what runs ends.
inline constexpr std::uint64_t least_room_bytes = std::uint64_t{1} << 20;

/// Fails (`io`) with a sentence where the disk of that folder has less than
/// `least_room_bytes`, or no place for another file.
[[nodiscard]] expected<void> check_room(const std::filesystem::path& folder);

/// Whether something failed since a disk, or its user's part of it, was full, though there
/// may be room again.
[[nodiscard]] bool is_of_full_disk(const error& e);

/// The bytes that a disk has, and has left for who asks.
struct disk_space {
  std::uint64_t size = 0, free = 0;

  friend bool operator==(const disk_space&, const disk_space&) = default;
};

/// Returns that of the disk of a folder.
[[nodiscard]] expected<disk_space> space_of(const std::filesystem::path& folder);

/// With less than this left, who fills the disk is paused, so that the others have it: a
/// sixteenth of the disk, from 2 MiB to 64 MiB.
[[nodiscard]] std::uint64_t scarce_bytes(const disk_space& disk);

/// Whether the kernel counts by process what is written to the disk of a folder: not where
/// that is memory, or a user's program.
[[nodiscard]] bool counts_writes(const std::filesystem::path& folder);

/// Returns what an entry has on the disk of the queue's `folder`: the files that it was seen
/// to write and those in its own folder `its`, each once.
[[nodiscard]] std::uint64_t bytes_of_entry(const writes_seen& seen,
                                           const std::filesystem::path& folder,
                                           const std::filesystem::path& its);

/// The space that an entry that runs has on the queue's disk.
struct disk_use {
  entry_id id = 0;
  std::uint64_t bytes = 0; ///< `bytes_of_entry`, or more where its writes tell of it.
  std::uint64_t free_when_begun = 0; ///< The bytes that the disk had free then.
};

/// Names the entry that fills the disk: it has a MiB at least, more than all others
/// together, more than what is left, and at least half of what the disk has lost since it
/// began, so that nobody is blamed for what others write, in the queue or beside it.
[[nodiscard]] std::optional<disk_use> who_fills(std::span<const disk_use> all,
                                                std::uint64_t free);
/// Says why it names nobody: "#3 has the most of it of all that runs here, 12 MiB, less
/// than half of the 300 MiB that it has lost since #3 began".
[[nodiscard]] std::string why_nobody_fills(std::span<const disk_use> all,
                                           std::uint64_t free);

/// How long it takes until little is left of a disk that loses so many bytes a second;
/// none: it loses none.
[[nodiscard]] std::optional<std::chrono::duration<double>>
time_until_scarce(const disk_space& disk, double falls_by);

/// How long nobody need look at it: a quarter of that time, from 10 ms to a second.
[[nodiscard]] std::chrono::milliseconds pause_between_looks(const disk_space& disk,
                                                            double falls_by);

} // namespace clade
