#include "engine/data/tables/csv_targets.hpp"

#include "engine/data/columns/csv_form.hpp"
#include "engine/data/converted/data_file.hpp"
#include "engine/data/formats/data_format.hpp"
#include "engine/data/tables/csv_start.hpp"

#include <fmt/format.h>

namespace clade {
namespace {

expected<csv_targets> parse_targets(const std::filesystem::path& file, data_file& read) {
  if (format_of(file, read.bytes) != data_format::csv)
    return fail_in(file.string(),
                   {error_kind::invalid_input,
                    "is no CSV of one column, as the targets of a CSV must be"});
  const auto params = params_of(read, {});
  const auto text = to_utf8(std::move(read.bytes), params.encoding);
  if (!text)
    return fail_in(file.string(), text.error());
  const auto form = find_form(text->text, params);
  auto start =
      find_csv_start(form.rows(text->text), file.string(), form, {}, params.header);
  if (!start)
    return tl::unexpected(std::move(start).error());
  csv_targets out{.texts = {}, .number = form.number(0), .checksum = read.checksum};
  csv_row r;
  for (;;) {
    const auto more = start->rows.next(r);
    if (more && !*more)
      return out;
    if (more && r.fields.size() == 1) {
      out.texts.emplace_back(r.fields.front());
      continue;
    }
    return fail_in(fmt::format("{}:{}", file.string(), r.line),
                   {error_kind::invalid_input,
                    more ? fmt::format("{} columns, where a file of targets has one",
                                       r.fields.size())
                         : more.error().message});
  }
}

} // namespace

expected<csv_targets> read_csv_targets(const std::filesystem::path& file) {
  auto read = read_data_file(file);
  if (!read)
    return tl::unexpected(std::move(read).error());
  auto targets = parse_targets(file, *read);
  if (!targets && read->table)
    return tl::unexpected(read->table->in_rows(targets.error(), file.string()));
  return targets;
}

} // namespace clade
