#pragma once

#include "engine/data/formats/npz.hpp"
#include "engine/data/formats/numeric_array.hpp"
#include "genome/base/unique_fd.hpp"
#include "genome/genes/running_hash128.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace clade {

/// The values of an array, which lie in memory, or are read from their file, or unzipped
/// from their archive, part by part: an array need not fit into memory.
class array_values {
public:
  array_values() = default;
  /// Values in memory that outlives this; `checksum` is that of their file.
  array_values(numeric_array whole, const genome_hash& checksum)
      : head_(std::move(whole)),
        count_(head_.count()),
        checksum_(checksum) {}

  /// Opens an IDX or .npy file. Nothing where it is no such file, or packed, or a pipe.
  /// An error names the byte.
  [[nodiscard]] static expected<std::optional<array_values>>
  open(const std::filesystem::path& file);
  /// The values of an array of the archive `file`, whose checksum is `checksum`. An error
  /// names the member and the byte.
  [[nodiscard]] static expected<array_values>
  of(npz_array packed, const std::string& file, const genome_hash& checksum);

  [[nodiscard]] const std::vector<std::int64_t>& sizes() const { return head_.sizes; }
  /// The number of values.
  [[nodiscard]] std::size_t count() const { return count_; }
  /// The number of values of one example.
  [[nodiscard]] std::size_t width() const;

  /// Returns values first to first + count - 1, which stay until the next call. An error
  /// where the file has become shorter.
  [[nodiscard]] expected<numeric_array> part(std::size_t first, std::size_t count);

  /// Shows all of them in parts of whole examples; an error ends it. `take` gets the index
  /// of the first example.
  [[nodiscard]] expected<void> for_each_part(
      const std::function<expected<void>(std::size_t, const numeric_array&)>& take);

  /// Returns the checksum of the file's bytes; of a file that is read part by part, once
  /// `for_each_part` was at its end.
  [[nodiscard]] const genome_hash& checksum() const { return checksum_; }

private:
  [[nodiscard]] expected<void> read_bytes(std::uint64_t from, std::size_t bytes);
  [[nodiscard]] expected<void> read_file(std::uint64_t from, std::size_t bytes);

  std::string origin_; ///< The file, for messages.
  numeric_array head_; ///< Its values are all there are, or none.
  std::size_t count_ = 0;
  genome_hash checksum_;
  unique_fd file_;                  ///< None: they lie in memory, or in an archive.
  std::optional<npz_array> packed_; ///< None: they lie in no archive.
  std::string buffer_;
};

} // namespace clade
