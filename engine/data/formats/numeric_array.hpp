#pragma once

#include "genome/base/error.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace clade {

enum class number_type : std::uint8_t { u8, i8, u16, i16, u32, i32, u64, i64, f32, f64 };

[[nodiscard]] std::size_t size_of(number_type t);

/// An array in a file's bytes, row-major, converted where it is read. It is a view: the
/// bytes outlive it.
struct numeric_array {
  std::vector<std::int64_t> sizes;
  number_type type = number_type::u8;
  bool big_endian = false;
  std::size_t offset = 0; ///< The offset of the first value within the file (unzipped).
  std::string_view values;

  [[nodiscard]] std::size_t count() const { return values.size() / size_of(type); }
  [[nodiscard]] double operator[](std::size_t i) const;
  [[nodiscard]] std::size_t byte_of(std::size_t i) const {
    return offset + i * size_of(type);
  }
};

/// IDX, the format of the MNIST family: two zero bytes, a type, the number of dimensions,
/// their sizes as big-endian 32-bit numbers, the values. Errors name the byte.
[[nodiscard]] expected<numeric_array> parse_idx(std::string_view bytes);
/// Does so of the first bytes of a file of that size; the values are as many as are there.
[[nodiscard]] expected<numeric_array> parse_idx(std::string_view front,
                                                std::uint64_t file_bytes);
/// Returns the size that the file must have by what comes before its values.
[[nodiscard]] expected<std::uint64_t> idx_file_bytes(std::string_view front);

/// NumPy's .npy, versions 1 to 3: bool, whole numbers and floats of 4 and 8 bytes, either
/// byte order, C order. Errors name the byte.
[[nodiscard]] expected<numeric_array> parse_npy(std::string_view bytes);
/// Does so of the first bytes of a file of that size; the values are as many as are there.
[[nodiscard]] expected<numeric_array> parse_npy(std::string_view front,
                                                std::uint64_t file_bytes);
/// Returns the size that the file must have by its header.
[[nodiscard]] expected<std::uint64_t> npy_file_bytes(std::string_view front);

[[nodiscard]] bool looks_like_idx(std::string_view bytes);

} // namespace clade
