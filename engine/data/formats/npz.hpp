#pragma once

#include "engine/data/bytes/zip_archive.hpp"
#include "genome/base/error.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// A zip archive, as which every .npz begins.
[[nodiscard]] bool looks_like_zip(std::string_view bytes);

/// An array of an archive that is unzipped as far as it is asked for, so that its header
/// can be judged before its values take time and memory. The archive's bytes outlive it.
/// An error begins with the member's name.
class npz_array {
public:
  /// Opens the array `array` (with or without ".npy"), or the only one if that is empty, of
  /// what numpy.savez or numpy.savez_compressed wrote. `key` is what names the array in an
  /// experiment, for messages.
  [[nodiscard]] static expected<npz_array>
  open(std::string_view archive, const std::string& array, std::string_view key);

  [[nodiscard]] const std::string& name() const { return name_; } ///< "x_train.npy"
  /// Returns the first bytes: all of the header, and some of the values.
  [[nodiscard]] std::string_view front() const { return front_; }
  /// Returns how many bytes it has, header and values, as the archive's directory says.
  [[nodiscard]] std::uint64_t size() const { return member_.bytes(); }

  /// Reads its bytes from `from` on. Going back begins anew, so that reading in order is
  /// cheap. The checksum is checked where the last byte is read.
  [[nodiscard]] expected<void> read(std::uint64_t from, std::span<char> into);

private:
  [[nodiscard]] expected<void> skip_to(std::uint64_t from);

  zip_archive archive_;
  std::string name_, front_;
  zip_member member_;
  std::uint64_t at_ = 0; ///< The place of the next byte of `member_`.
};

/// A member of an archive, unzipped.
struct npz_member {
  std::string name; ///< "x_train.npy"
  std::string bytes;
};

/// Unzips all of an array, which `npz_array::open` finds. Takes memory for that member
/// alone, and no more than `data_limits` allows.
[[nodiscard]] expected<npz_member> read_npz(npz_array array);
[[nodiscard]] expected<npz_member>
read_npz(std::string_view archive, const std::string& array, std::string_view key);

/// The names of the arrays in an archive, without ".npy", in its order.
[[nodiscard]] expected<std::vector<std::string>> arrays_of(std::string_view archive);

} // namespace clade
