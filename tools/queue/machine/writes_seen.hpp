#pragma once

#include "engine/evaluation/process/process_table.hpp"

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace clade {

/// A regular file that somebody writes.
struct written_file {
  dev_t device = 0;
  ino_t number = 0;
  std::filesystem::path path{};
  std::uint64_t bytes = 0; ///< That it takes of its disk.
};

/// Returns the files that the processes below `root`, of `all` that there are, have open to
/// write.
[[nodiscard]] std::vector<written_file>
files_open_to_write(pid_t root, std::span<const process_entry> all);

/// Returns the bytes that `root` and the processes below it have written to disks until now,
/// with those that they have waited for. `by_calls`: to whatever there is to write to, which
/// is all that is known where the disk is memory, or a file system of some user's program.
[[nodiscard]] std::uint64_t
bytes_written_below(pid_t root, std::span<const process_entry> all, bool by_calls);

/// The writing of one entry as it was seen, look after look. Who writes a file after the
/// other, and closes each, has none of them open when the disk is full; but what it writes
/// and what the disk loses go together.
class writes_seen {
public:
  /// Takes in a look: the files that are open then, the bytes written until then, and those
  /// that the disk has left.
  void add(std::vector<written_file> open, std::uint64_t written, std::uint64_t free);

  /// Returns the files that it was seen to write on that disk and that are there still, with
  /// what they take of it now.
  [[nodiscard]] std::vector<written_file> still_there(dev_t disk) const;

  /// Returns the bytes that it has written since the disk began to fall, where the disk has
  /// lost about as many: in all, and between most of the looks. Else 0: others have written
  /// what is gone, or it writes elsewhere, over its own files, or ones that it removes.
  [[nodiscard]] std::uint64_t bytes_lost_by_it() const;

private:
  std::map<std::pair<dev_t, ino_t>, written_file> files_;
  std::uint64_t written_ = 0, free_ = 0; ///< At the last look.
  bool looked_ = false;
  /// Since the disk began to fall: its losses, what was written meanwhile, between how many
  /// looks it fell, and of these between how many both were about the same.
  std::uint64_t lost_ = 0, written_meanwhile_ = 0, falls_ = 0, matching_ = 0;
};

} // namespace clade
