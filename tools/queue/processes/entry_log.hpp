#pragma once

#include "genome/base/error.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

namespace clade {

/// The space that a log of an entry may take on the disk, unless somebody says otherwise.
inline constexpr std::uint64_t usual_log_bytes = std::uint64_t{1} << 30;
inline constexpr std::uint64_t least_log_bytes = std::uint64_t{8} << 20;

/// Frees the middle of a log that takes more than `most` bytes (`least_log_bytes` at least)
/// of the disk: its first MiB stays, and the last half of `most`. Whoever writes it goes on
/// meanwhile, and offsets into it stay what they were. An error: the file system cannot free a
/// part of a file, as NFS before 4.2 cannot.
[[nodiscard]] expected<void> shorten_log(const std::filesystem::path& file,
                                         std::uint64_t most);

/// Returns where the log ends; 0 where there is none.
[[nodiscard]] expected<std::uint64_t> log_end(const std::filesystem::path& file);

/// How a log has grown between two looks at it.
struct log_growth {
  std::uint64_t grown = 0; ///< Bytes.
  std::chrono::nanoseconds within{0};
  std::uint64_t most = usual_log_bytes; ///< The space that it may take of the disk.
};

/// Returns how long nobody need look at the log: until it has grown by a quarter of what it
/// may take, if it goes on as before. From 5 ms, also for one that is new, to a second, and
/// less where it may take less than 128 MiB.
[[nodiscard]] std::chrono::milliseconds pause_between_looks(const log_growth& g);

/// The header of an answer that says where the piece that it has begins.
inline constexpr const char* log_offset_header = "Log-Offset";

struct log_piece {
  std::uint64_t offset =
      0;              ///< The place at which it begins; if that is behind what was asked
                      ///< for, the part between is freed.
  std::string text{}; ///< Empty: there is nothing more.
};

/// A piece of a log, of at most `most` bytes, from that offset or the first byte behind it
/// that is there. A log that is not there is empty.
[[nodiscard]] expected<log_piece> read_log(const std::filesystem::path& file,
                                           std::uint64_t offset, std::size_t most);

} // namespace clade
