#pragma once

#include "engine/data/folders/class_folder.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace clade {

/// The examples of a folder as one stream of bytes, which another machine unpacks: all files
/// that `checksum_of_data` counts, in the same order (grammar at the top of
/// folder_bundle.cpp).
class folder_bundle {
public:
  /// Lists the files. An error where the folder cannot be read.
  [[nodiscard]] static expected<folder_bundle> of(const std::filesystem::path& folder);
  /// Lists only these files, relative to the folder. An error where one cannot be read, or
  /// does not lie below it.
  [[nodiscard]] static expected<folder_bundle>
  of(const std::filesystem::path& folder,
     const std::vector<std::filesystem::path>& files);

  [[nodiscard]] std::uint64_t size() const { return size_; }

  /// Returns up to `most` bytes from `offset` on; none at the end. An error that names a file
  /// which cannot be read, or has another size than it had.
  [[nodiscard]] expected<std::string> read(std::uint64_t offset, std::size_t most) const;

private:
  struct part {
    std::filesystem::path file;
    std::uint64_t begin = 0, size = 0; ///< In the stream.
  };

  std::string head_;
  std::vector<part> parts_;
  std::uint64_t size_ = 0;
};

/// Makes the folder of the bytes of a bundle in a file. The folder must not be there, and
/// nothing is written anywhere else, whatever the bytes are; what was unpacked before an
/// error stays.
[[nodiscard]] expected<void> unpack_bundle(const std::filesystem::path& bundle,
                                           const std::filesystem::path& folder);

} // namespace clade
