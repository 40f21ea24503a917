#pragma once

#include "engine/data/formats/file_bytes.hpp"

#include <filesystem>
#include <string_view>

namespace clade {

/// Refuses a file of a kind that people have, but that is not read (Parquet, Excel, JSON,
/// a pickle, an image, sentences): the message names the kind and the way out. Kinds are
/// told by what is in the file, `bytes`, its beginning at least; its name says nothing.
/// No such file is ever opened as what it is; a pickle is not run.
[[nodiscard]] expected<void> refuse_unread_kind(const std::filesystem::path& file,
                                                std::string_view bytes);

/// Reads all of a file of data. Errors are those of `read_file` and `refuse_unread_kind`;
/// of a folder, the message says what lies in it.
[[nodiscard]] expected<file_bytes>
read_data_file(const std::filesystem::path& file,
               const file_limits& limits = data_limits());

/// Refuses a folder, with what lies in it: images, or files of data, of which one is to be
/// named. For anything else it is silent.
[[nodiscard]] expected<void> refuse_folder(const std::filesystem::path& file);

/// Whether a text is the name of an image's file: "cats/1.png".
[[nodiscard]] bool names_image(std::string_view name);

} // namespace clade
