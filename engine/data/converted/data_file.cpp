#include "engine/data/converted/data_file.hpp"

#include "engine/data/converted/table_readers.hpp"
#include "engine/data/converted/text_folder.hpp"
#include "engine/data/folders/class_folder.hpp"
#include "engine/data/formats/data_format.hpp"
#include "engine/data/formats/unread_kinds.hpp"

#include <algorithm>

namespace clade {

table_choice choice_of(const array_source& from) {
  return {.name = from.array, .key = from.key};
}

data_params params_of(const data_file& file, data_params params) {
  if (!file.table)
    return params;
  params.delimiter = ",";
  params.decimal = ".";
  params.encoding = "utf-8";
  // No line of titles is before the names.
  if (file.table->named)
    params.header = "line 1";
  return params;
}

expected<converted_table> convert_table(table_kind kind,
                                        const std::filesystem::path& file,
                                        std::string_view bytes,
                                        const table_choice& which) {
  switch (kind) {
  case table_kind::json:
    return read_json_table(bytes, which);
  case table_kind::sqlite:
    return check_sqlite_journal(file).and_then(
        [&] { return read_sqlite_table(bytes, which); });
  case table_kind::workbook:
    return read_workbook(bytes, which);
  case table_kind::arff:
    return read_arff(bytes, which);
  case table_kind::libsvm:
    return read_libsvm(bytes, which);
  default:
    return read_arrow_table(bytes, which);
  }
}

expected<data_file> read_data_file(const std::filesystem::path& file,
                                   const table_choice& which, const file_limits& limits) {
  auto bounded = which;
  bounded.most_bytes = std::min(which.most_bytes, limits.most_bytes / 4);
  if (is_text_folder(file))
    return read_text_folder(file, bounded);
  if (is_folder(file)) {
    const auto data = file_of_data_in(file);
    return fail_in(file.string(), {error_kind::invalid_input,
                                   "is a folder, not a file"
                                       + (data.empty() ? std::string()
                                                       : "; name a file in it, such as "
                                                             + data.string())});
  }
  auto read = read_file(file, limits);
  if (!read)
    return tl::unexpected(std::move(read).error());
  if (auto fine = refuse_unread_kind(file, read->bytes, which.sentences); !fine)
    return tl::unexpected(std::move(fine).error());
  data_file out{{std::move(*read)}, std::nullopt};
  const auto kind = format_of(file, out.bytes) == data_format::csv
                        ? table_kind_of(out.bytes)
                        : std::nullopt;
  if (!kind)
    return out;
  auto table = convert_table(*kind, file, out.bytes, bounded);
  if (!table)
    return fail_in(file.string(), std::move(table).error());
  if (!which.name.empty() && !table->facts.several)
    return fail_in(file.string(), {error_kind::invalid_input,
                                   "holds one table; remove " + std::string(which.key)
                                       + ", which names one of several"});
  out.bytes = std::move(table->text);
  out.table = std::move(table->facts);
  return out;
}

} // namespace clade
