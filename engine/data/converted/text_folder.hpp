#pragma once

#include "engine/data/converted/data_file.hpp"

#include <cstdint>
#include <filesystem>
#include <string>

namespace clade {

/// The columns of the table that a folder of texts becomes.
inline constexpr const char *text_column_name = "text", *class_column_name = "class";

/// The limits of the files of such a folder.
namespace text_file_rules {
/// A larger file is refused.
inline constexpr std::uint64_t most_bytes = std::uint64_t{64} << 20;
/// The rest of a longer text (in UTF-8) is left out.
inline constexpr std::uint64_t longest = std::uint64_t{1} << 20;
} // namespace text_file_rules

/// Reads a folder with a folder of texts for each class as a table of a text and its class,
/// a row for each file in order of their paths, which `table_facts::files` has. A file may be
/// UTF-8, UTF-16 or Latin-1, each for itself. Files that are no texts are an error that names
/// the first; so is a folder without classes.
[[nodiscard]] expected<data_file> read_text_folder(const std::filesystem::path& folder,
                                                   const table_choice& which = {});

/// The names of the training data's columns; empty where they have none.
struct text_names {
  std::string text, target;
};

/// Reads texts to be predicted as such a table: a file, which is one text, or all texts below
/// a folder, also such that are in none of a class. The table has a column of the classes
/// only if a text has one, and a line of names only if `names` are there.
[[nodiscard]] expected<data_file> read_new_texts(const std::filesystem::path& path,
                                                 const text_names& names);

} // namespace clade
