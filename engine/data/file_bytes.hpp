#pragma once

#include "genome/error.hpp"
#include "genome/genome.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace clade {

/// What a file holds: unzipped where it was gzip, the checksum that of the file as it
/// lies there.
struct file_bytes {
  std::string bytes;
  genome_hash checksum;
};

/// No more than this is unzipped from one file.
inline constexpr std::uint64_t max_unzipped_bytes = std::uint64_t{16} << 30;

/// Reads all of it; gzip is known by its first two bytes.
[[nodiscard]] expected<file_bytes> read_file(const std::filesystem::path& file);

/// The checksum that `read_file` gives.
[[nodiscard]] expected<genome_hash> checksum_of_file(const std::filesystem::path& file);

/// Unzips gzip data of one member or several. An error names the byte at which the data
/// ends too early, is damaged, or is followed by something else.
[[nodiscard]] expected<std::string> gunzip(std::string_view zipped);

} // namespace clade
