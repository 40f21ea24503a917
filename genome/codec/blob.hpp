#pragma once

#include "genome/base/unique_fd.hpp"
#include "genome/codec/codec.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>

namespace clade {

/// Bytes that several hold and nobody changes.
using shared_bytes = std::shared_ptr<const bytes>;

/// The file that a blob lies in. It is closed with the last blob that uses it, and then
/// deleted if it is `temporary` and still has this name.
struct blob_file {
  unique_fd descriptor;
  std::filesystem::path path;
  bool temporary = false;

  ~blob_file();
};

/// The weights of a network, or a checkpoint: bytes that may be gigabytes and are never
/// copied. Copies of a blob share its content, which is in memory, in a file, or absent:
/// in another process, of which only size and checksum are known here.
class blob {
public:
  blob() = default;
  /// Implicit, so that whoever makes bytes need not know of blobs.
  blob(bytes content); // NOLINT(google-explicit-constructor)
  /// The content is the `size` bytes of `file` from `offset` on; the caller has checked
  /// that `checksum` is their hash.
  blob(std::shared_ptr<const blob_file> file, std::uint64_t offset, std::uint64_t size,
       std::uint64_t checksum);
  /// The content is elsewhere; `why` says why it cannot be had, if that is known.
  [[nodiscard]] static blob absent(std::uint64_t size, std::uint64_t checksum,
                                   std::string why = {});

  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// `hash64` of the content.
  [[nodiscard]] std::uint64_t checksum() const { return checksum_; }
  [[nodiscard]] bool is_absent() const { return size_ != 0 && !memory_ && !file_; }
  /// Null if the content is not in memory.
  [[nodiscard]] const shared_bytes& in_memory() const { return memory_; }
  /// Null if the content is not in a file.
  [[nodiscard]] const std::shared_ptr<const blob_file>& file() const { return file_; }

  /// Returns up to `most` bytes from `offset` on. Reading a file blocks.
  [[nodiscard]] expected<bytes> read(std::uint64_t offset, std::size_t most) const;
  /// Returns the whole content, without a copy if it is in memory.
  [[nodiscard]] expected<shared_bytes> load() const;

  /// Compares sizes and checksums.
  friend bool operator==(const blob& a, const blob& b) {
    return a.size_ == b.size_ && a.checksum_ == b.checksum_;
  }

private:
  shared_bytes memory_;
  std::shared_ptr<const blob_file> file_;
  std::uint64_t offset_ = 0;
  std::uint64_t size_ = 0;
  std::uint64_t checksum_ = 0;
  std::string why_;
};

} // namespace clade
