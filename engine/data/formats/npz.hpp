#pragma once

#include "genome/base/error.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// A zip archive, as which every .npz begins.
[[nodiscard]] bool looks_like_zip(std::string_view bytes);

/// A member of an archive, unzipped.
struct npz_member {
  std::string name; ///< "x_train.npy"
  std::string bytes;
};

/// Takes the array `array` (with or without ".npy"), or the only one if that is empty,
/// out of what numpy.savez or numpy.savez_compressed wrote; its checksum is checked. An
/// error about a member begins with its name. `key` is what names the array in an
/// experiment, for messages. Takes memory for that member alone, and no more than
/// `max_unzipped_bytes`.
[[nodiscard]] expected<npz_member>
read_npz(std::string_view archive, const std::string& array, std::string_view key);

/// The names of the arrays in an archive, without ".npy", in its order.
[[nodiscard]] expected<std::vector<std::string>> arrays_of(std::string_view archive);

} // namespace clade
