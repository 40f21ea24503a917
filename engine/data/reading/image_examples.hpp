#pragma once

#include "engine/data/converted/data_file.hpp"
#include "engine/data/images/image_folder.hpp"
#include "engine/data/reading/preprocessing.hpp"
#include "engine/data/tables/image_list.hpp"

#include <filesystem>
#include <string_view>

namespace clade {

/// Reads the images that a table names, which was read from `file`, with the targets beside
/// them, as examples.
[[nodiscard]] expected<examples> read_listed_images(data_file table,
                                                    const std::filesystem::path& file,
                                                    const data_params& params);

/// Returns the checksum that the examples have then, without decoding.
[[nodiscard]] expected<genome_hash> checksum_of_listed(data_file table,
                                                       const std::filesystem::path& file,
                                                       const data_params& params);

/// Reads an image, or all of a folder, to be predicted.
[[nodiscard]] expected<raw_rows> read_raw_images(const std::filesystem::path& path,
                                                 const preprocessing& how);

/// Reads the images that a table names (its text), to be predicted. Their paths begin at
/// its folder, or else where those of the training data did.
[[nodiscard]] expected<raw_rows>
read_raw_listed_images(std::string_view text, const std::filesystem::path& table,
                       const data_params& params, const preprocessing& how);

} // namespace clade
