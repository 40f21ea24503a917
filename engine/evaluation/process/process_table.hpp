#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// All that Clade reads of other processes of this machine, which Linux shows in /proc.

namespace clade {

/// A process, as /proc/PID/stat has it.
struct process_entry {
  pid_t id = 0, parent = 0;
  double cpu_seconds = 0; ///< Processor time that it has had.
  std::uint64_t resident_bytes = 0;

  friend bool operator==(const process_entry&, const process_entry&) = default;
};

/// Reads the text of /proc/PID/stat; none: it is not such a text. Allocates nothing.
[[nodiscard]] std::optional<process_entry> parse_process(std::string_view stat);

/// Reads the process whose folder in the open folder `proc` has that name; none: it has
/// ended. Allocates nothing.
[[nodiscard]] std::optional<process_entry> read_process(int proc, const char* name);

/// Returns all processes of this machine, in no order.
[[nodiscard]] std::vector<process_entry>
read_processes(const std::filesystem::path& proc = "/proc");

/// Returns those of `all` that `ancestor` has started, and those that these have started,
/// and so on, by their numbers. Processes change while they are read, so that parents may
/// form a ring.
[[nodiscard]] std::vector<process_entry> below(pid_t ancestor,
                                               std::span<const process_entry> all);

/// Returns the bytes that are resident in all processes below `ancestor`, without
/// `spared` itself.
[[nodiscard]] std::uint64_t resident_bytes_below(pid_t ancestor, pid_t spared = 0);

/// Returns the program of a process and its arguments; none: it has ended.
[[nodiscard]] std::vector<std::string> words_of(pid_t process);

/// Returns the paths below /proc of the files that a process has open to write; none: it
/// has ended, or is another user's.
[[nodiscard]] std::vector<std::filesystem::path> files_written_by(pid_t process);

/// Returns the path of the program that this process runs.
[[nodiscard]] std::filesystem::path own_program();

} // namespace clade
