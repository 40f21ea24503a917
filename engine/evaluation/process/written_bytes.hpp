#pragma once

#include <sys/types.h>

#include <cstdint>

namespace clade {

/// The bytes that a process, its threads and the children that it has waited for have
/// written, as /proc/PID/io has them.
struct written_bytes {
  std::uint64_t by_calls = 0; ///< To files, pipes, sockets and all else.
  std::uint64_t to_disks = 0; ///< To files that are on a disk, as far as that counts it.

  friend bool operator==(const written_bytes&, const written_bytes&) = default;
};

/// Returns that of a process; nothing: it has ended, or is another user's.
[[nodiscard]] written_bytes bytes_written_by(pid_t process);

} // namespace clade
