#pragma once

#include "genome/base/error.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

namespace clade {

/// The limits of the files that `read_whole_file` may read.
struct file_limits {
  /// A larger file is refused: unread where its size is known, else as soon as more came.
  std::uint64_t most_bytes = 0;
  /// Pipes, sockets and terminals are read to their end. If this is false, they are
  /// refused.
  bool streams = false;
  /// A pipe that nobody has opened to write for so long is refused.
  std::chrono::milliseconds writer_within{10'000};
};

/// Reads a file to its end. Refuses folders and devices such as /dev/zero, and files of
/// the kernel that would make the reader wait, such as /proc/kmsg. An error begins with
/// the file's name.
[[nodiscard]] expected<std::string> read_whole_file(const std::filesystem::path& file,
                                                    const file_limits& limits);

/// Says why `read_whole_file` would refuse what is there for its kind alone, without
/// opening it; nothing where it would read it.
[[nodiscard]] expected<void> check_readable_kind(const std::filesystem::path& file,
                                                 bool streams = false);

/// "1 MiB", "16 GiB", "700 bytes": the size in the largest binary unit, rounded down.
[[nodiscard]] std::string binary_size(std::uint64_t bytes);

} // namespace clade
