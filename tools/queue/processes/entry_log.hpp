#pragma once

#include "genome/error.hpp"

#include <cstdint>
#include <filesystem>
#include <string>

namespace clade {

/// What a log of an entry may take on the disk, unless somebody says otherwise.
inline constexpr std::uint64_t usual_log_bytes = std::uint64_t{1} << 30;
inline constexpr std::uint64_t least_log_bytes = std::uint64_t{8} << 20;

/// Frees the middle of a log that takes more than `most` bytes (`least_log_bytes` at least)
/// of the disk: its first MiB stays, and the last half of `most`. Whoever writes it goes on
/// meanwhile, and offsets into it stay what they were. An error: the file system cannot free a
/// part of a file, as NFS before 4.2 cannot.
[[nodiscard]] expected<void> shorten_log(const std::filesystem::path& file,
                                         std::uint64_t most);

/// Of an answer: where the piece that it has begins.
inline constexpr const char* log_offset_header = "Log-Offset";

struct log_piece {
  std::uint64_t offset =
      0;              ///< Where it begins; behind what was asked for: that is freed.
  std::string text{}; ///< Empty: there is nothing more.
};

/// A piece of a log, of at most `most` bytes, from that offset or the first byte behind it
/// that is there. A log that is not there is empty.
[[nodiscard]] expected<log_piece> read_log(const std::filesystem::path& file,
                                           std::uint64_t offset, std::size_t most);

} // namespace clade
