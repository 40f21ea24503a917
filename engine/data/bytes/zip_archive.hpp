#pragma once

#include "genome/base/error.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct zip;

namespace clade {

/// The words for an archive in messages.
struct zip_words {
  std::string_view kind; ///< ".npz archive"
  std::string_view way; ///< The way out where it is compressed in a way that is not read.
};

/// Is given a member's bytes in pieces; an error ends the reading.
using zip_pieces = std::function<expected<void>(std::string_view piece)>;

/// A zip archive in memory, which outlives it. Members are stored or deflated; each is at
/// most 1,032 times as large as the archive.
class zip_archive {
public:
  [[nodiscard]] static expected<zip_archive> open(std::string_view bytes,
                                                  const zip_words& words);

  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] bool has(const std::string& name) const;
  /// Reads a member, of at most `most` bytes.
  [[nodiscard]] expected<std::string> read(const std::string& name,
                                           std::uint64_t most) const;
  [[nodiscard]] expected<void> read_pieces(const std::string& name, std::uint64_t most,
                                           const zip_pieces& take) const;

private:
  struct discard {
    void operator()(zip* archive) const;
  };

  std::unique_ptr<zip, discard> archive_;
  std::size_t bytes_ = 0;
  zip_words words_;
};

} // namespace clade
