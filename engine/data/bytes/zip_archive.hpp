#pragma once

#include "genome/base/error.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct zip;
struct zip_file;

namespace clade {

/// The words for an archive in messages.
struct zip_words {
  std::string_view kind; ///< ".npz archive"
  std::string_view way; ///< The way out where it is compressed in a way that is not read.
};

/// Is given a member's bytes in pieces; an error ends the reading.
using zip_pieces = std::function<expected<void>(std::string_view piece)>;

/// A member of an archive that is unzipped from its begin to its end, as far as it is asked
/// for. It keeps the archive open, whose bytes outlive it.
class zip_member {
public:
  /// How many bytes it has, as the archive's directory says.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

  /// Reads the next bytes: as many as `into` takes, and fewer only at the end, where the
  /// member's checksum was found right. An error where it has more than `bytes`.
  [[nodiscard]] expected<std::size_t> read(std::span<char> into);
  /// Reads what is left, of a member of at most `most` bytes.
  [[nodiscard]] expected<void> read_rest(std::uint64_t most, const zip_pieces& take);

private:
  friend class zip_archive;

  struct close {
    void operator()(zip_file* file) const;
  };

  std::shared_ptr<zip> archive_;
  std::unique_ptr<zip_file, close> file_;
  std::uint64_t bytes_ = 0, used_ = 0;
};

/// A zip archive in memory, which outlives it. Members are stored or deflated; each is at
/// most 1,032 times as large as the archive.
class zip_archive {
public:
  [[nodiscard]] static expected<zip_archive> open(std::string_view bytes,
                                                  const zip_words& words);

  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] bool has(const std::string& name) const;
  /// Opens a member, of which nothing is unzipped yet.
  [[nodiscard]] expected<zip_member> open_member(const std::string& name) const;
  /// Reads a member, of at most `most` bytes.
  [[nodiscard]] expected<std::string> read(const std::string& name,
                                           std::uint64_t most) const;
  [[nodiscard]] expected<void> read_pieces(const std::string& name, std::uint64_t most,
                                           const zip_pieces& take) const;

private:
  std::shared_ptr<zip> archive_;
  std::size_t bytes_ = 0;
  zip_words words_;
};

} // namespace clade
