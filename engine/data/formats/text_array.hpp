#pragma once

#include "genome/base/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// An array of texts, each of a fixed length in the file, filled up with zeros:
/// numpy.array(["cat", "dog"]), or the same as bytes.
struct text_array {
  std::vector<std::int64_t> sizes;
  std::vector<std::string> texts; ///< In UTF-8.
  std::size_t offset = 0;         ///< The offset of the first text within the file.
  std::size_t bytes_each = 0;

  [[nodiscard]] std::size_t byte_of(std::size_t i) const {
    return offset + i * bytes_each;
  }
};

/// Whether a .npy file holds texts of a fixed length ('<U3', '|S3').
[[nodiscard]] bool holds_texts(std::string_view npy);

/// Reads what the first bytes of a file of `file_bytes` bytes say of its texts, of which it
/// returns none. Errors name the byte.
[[nodiscard]] expected<text_array> parse_npy_text_header(std::string_view front,
                                                         std::uint64_t file_bytes);
/// Returns the size that the file must have by its header.
[[nodiscard]] expected<std::uint64_t> npy_text_file_bytes(std::string_view front);

/// Reads an array of texts. Errors name the byte.
[[nodiscard]] expected<text_array> parse_npy_texts(std::string_view npy);

} // namespace clade
