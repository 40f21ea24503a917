#pragma once

#include "genome/base/error.hpp"
#include "genome/base/whole_file.hpp"
#include "genome/genes/genome.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace clade {

/// The content of a file: unzipped where it was gzip, the checksum that of the file as it
/// lies there.
struct file_bytes {
  std::string bytes;
  genome_hash checksum;
};

/// No more than this is unzipped from one file.
inline constexpr std::uint64_t max_unzipped_bytes = std::uint64_t{16} << 30;

/// Returns the limits of a file of data, which must fit into the machine's memory.
[[nodiscard]] file_limits data_limits(bool streams = false);

/// Reads all of it; gzip is known by its first two bytes. The limits hold for the file as
/// it lies there and for what it unzips to. A file that unzips to a text (`format_of`) is
/// refused at its first zero byte, and an array (.npy, IDX) by its header or where more
/// follows than that says, before the rest is unzipped.
[[nodiscard]] expected<file_bytes> read_file(const std::filesystem::path& file,
                                             const file_limits& limits = data_limits());

/// Reads the first `most` bytes, unzipped, or fewer where there are no more. Takes
/// regular files only.
[[nodiscard]] expected<std::string> read_front(const std::filesystem::path& file,
                                               std::size_t most);

/// The checksum that `read_file` gives.
[[nodiscard]] expected<genome_hash> checksum_of_file(const std::filesystem::path& file);

/// Is shown what was unzipped so far, of which the last `fresh` bytes are new; an error
/// ends the unzipping.
using unzipped_check =
    std::function<expected<void>(std::string_view all, std::size_t fresh)>;

/// Unzips gzip data of one member or several, to at most `most_bytes`. An error names the
/// byte at which the data ends too early, is damaged, or is followed by something else.
[[nodiscard]] expected<std::string> gunzip(std::string_view zipped,
                                           std::uint64_t most_bytes = max_unzipped_bytes,
                                           const unzipped_check& check = nullptr);

} // namespace clade
