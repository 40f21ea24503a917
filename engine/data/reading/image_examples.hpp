#pragma once

#include "engine/data/images/image_folder.hpp"
#include "engine/data/reading/preprocessing.hpp"
#include "engine/data/tables/image_list.hpp"

#include <filesystem>
#include <string_view>

namespace clade {

/// Reads the images that a table names (its text), with the targets beside them, as
/// examples. The checksum is that of the images alone.
[[nodiscard]] expected<examples> read_listed_images(std::string_view text,
                                                    const std::filesystem::path& table,
                                                    const data_params& params);

/// Reads an image, or all of a folder, to be predicted.
[[nodiscard]] expected<raw_rows> read_raw_images(const std::filesystem::path& path,
                                                 const preprocessing& how);

/// Reads the images that a table names, to be predicted. Their paths begin at its folder,
/// or else where those of the training data did.
[[nodiscard]] expected<raw_rows>
read_raw_listed_images(std::string_view text, const std::filesystem::path& table,
                       const data_params& params, const preprocessing& how);

} // namespace clade
