#pragma once

#include "engine/data/columns/data_params.hpp"
#include "engine/data/columns/examples.hpp"
#include "engine/data/converted/converted_table.hpp"
#include "engine/data/formats/file_bytes.hpp"
#include "engine/data/formats/text_kinds.hpp"

#include <filesystem>
#include <optional>
#include <string_view>

namespace clade {

/// The content of a file of data. That of a table of another kind than CSV has become the
/// text of one, of which `table` says more; the checksum is the file's own.
struct data_file : file_bytes {
  std::optional<table_facts> table;
};

/// Reads all of a file of data. Errors are those of `read_file` and `refuse_unread_kind`,
/// and of a table that is not what it should be. A folder is read if it is one of texts by
/// class (text_folder.hpp); of another one, the message names a file in it.
[[nodiscard]] expected<data_file>
read_data_file(const std::filesystem::path& file, const table_choice& which = {},
               const file_limits& limits = data_limits());

/// The choice of a table that a source of examples makes.
[[nodiscard]] table_choice choice_of(const array_source& from);

/// `params` for reading a file: where it was a table of another kind, the form in which
/// its text is written.
[[nodiscard]] data_params params_of(const data_file& file, data_params params);

/// Makes the text of a CSV of a table; `file` is for what may lie beside it. Any bytes
/// give a table or an error.
[[nodiscard]] expected<converted_table> convert_table(table_kind kind,
                                                      const std::filesystem::path& file,
                                                      std::string_view bytes,
                                                      const table_choice& which);

} // namespace clade
