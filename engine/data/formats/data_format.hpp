#pragma once

#include "genome/base/error.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace clade {

/// The kinds of files that examples are read from.
enum class data_format : std::uint8_t { csv, idx, npy, npz, cifar, series };

/// So many first bytes of a file tell its format.
inline constexpr std::size_t telling_bytes = std::size_t{256} << 10;

/// Tells the format of a file from its name and its first bytes, unzipped: .npy, .npz and
/// IDX have magic numbers (and names that are trusted when those are damaged), CIFAR's
/// batches are known by the name .bin, series by the header of a .ts file or of an ARFF
/// file of series; all else is CSV, or what becomes one
/// (`table_kind_of`).
[[nodiscard]] data_format format_of(const std::filesystem::path& file,
                                    std::string_view bytes);

/// Whether a file holds data and no experiment, as far as its name and its first bytes
/// tell: .csv, .tsv, .data, .npy and the like, also with .gz behind.
[[nodiscard]] bool looks_like_data(const std::filesystem::path& file,
                                   std::string_view bytes);

/// The file's name without folder, ".gz" and its last ending: "churn" of
/// "a/churn.csv.gz". A folder may have a slash behind its name.
[[nodiscard]] std::string plain_name(const std::filesystem::path& file);

/// Said of a text with a zero byte, behind its place.
inline constexpr std::string_view zero_byte =
    "a zero byte: the file is neither CSV, .npy, .npz nor IDX";

} // namespace clade
