#pragma once

#include "genome/base/error.hpp"

#include <filesystem>
#include <string_view>

namespace clade {

/// Refuses a file of a kind that people have, but that is not read (HDF5, old Excel,
/// a pickle, an image, sentences): the message names the kind and the way out. Kinds are
/// told by what is in the file, `bytes`, its beginning at least; its name says nothing.
/// No such file is ever opened as what it is; a pickle is not run. Lines of `sentences`
/// are refused unless they are wanted.
[[nodiscard]] expected<void> refuse_unread_kind(const std::filesystem::path& file,
                                                std::string_view bytes,
                                                bool sentences = false);

/// Returns a file of data that lies in a folder or the folders in it, the first by name, as
/// far as a look goes; empty where there is none.
[[nodiscard]] std::filesystem::path file_of_data_in(const std::filesystem::path& folder);

} // namespace clade
