// The rows are read three times: for the columns' values, for the targets where they are
// in another file, and for a sample of at most 20,000 rows (2,000,000 fields) in which
// columns are tried for giving the target away.

#include "engine/data/csv_fields.hpp"
#include "engine/data/csv_form.hpp"
#include "engine/data/csv_start.hpp"
#include "engine/data/csv_targets.hpp"
#include "engine/data/data_format.hpp"
#include "engine/data/data_kinds.hpp"
#include "engine/data/file_bytes.hpp"
#include "engine/data/files_beside.hpp"
#include "engine/data/in_quotes.hpp"
#include "engine/data/target_guess.hpp"
#include "engine/data/target_leak.hpp"
#include "genome/hash.hpp"
#include "search_spaces/nearest.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace clade {
namespace {

/// A CSV that is open: its text and where its rows begin.
struct open_csv {
  std::string text;
  std::string encoding;
  csv_form form;
  csv_start start{.header = {}, .names = {}, .class_names = {}, .rows = csv_rows({})};
};

expected<void> open(const std::filesystem::path& file, open_csv& out) {
  auto read = read_file(file);
  if (!read)
    return tl::unexpected(std::move(read).error());
  if (auto fine = refuse_spreadsheet(file, read->bytes); !fine)
    return fine;
  auto text = to_utf8(std::move(read->bytes), "auto");
  if (!text)
    return fail_in(file.string(), std::move(text).error());
  out.text = std::move(text->text);
  out.encoding = std::move(text->encoding);
  if (out.text.find('\0') != std::string::npos)
    return fail_in(file.string(),
                   {error_kind::invalid_input,
                    "holds zero bytes: it is neither CSV, .npy, .npz, IDX nor CIFAR"});
  out.form = find_form(out.text, {});
  auto start = find_csv_start(csv_rows(out.text, out.form.dialect), file.string(),
                              out.form.decimal);
  if (!start)
    return tl::unexpected(std::move(start).error());
  out.start = std::move(*start);
  return {};
}

expected<target_guess> find_target(const data_profile& p, const std::string& asked) {
  const auto& columns = p.table.columns;
  if (asked.empty())
    return guess_target(columns, p.header == "names");
  const auto named = std::ranges::find(columns, asked, &column_profile::name);
  if (named != columns.end())
    return target_guess{static_cast<std::size_t>(named - columns.begin()),
                        target_reason::asked};
  std::size_t n = asked == "last" ? columns.size() : 0;
  std::from_chars(asked.data(), asked.data() + asked.size(), n);
  if (n >= 1 && n <= columns.size())
    return target_guess{n - 1, target_reason::asked};
  if (p.header != "names")
    return fail(error_kind::invalid_input,
                "no column is the target " + in_quotes(asked)
                    + ": the file has no names of columns; use a number from 1 to "
                    + std::to_string(columns.size()) + ", or \"last\"");
  std::vector<std::string> names;
  for (const auto& c : columns)
    names.push_back(c.name);
  const auto near = nearest(asked, names);
  return fail(error_kind::invalid_input,
              "no column is the target " + in_quotes(asked)
                  + (near.empty() ? "; there are " + all_in_quotes(names)
                                  : "; did you mean " + in_quotes(near) + "?"));
}

/// Reads the targets of a file of their own, as many as there are rows.
expected<std::vector<std::string>> read_targets(data_profile& p) {
  auto targets = read_csv_targets(p.target_file);
  if (!targets)
    return tl::unexpected(std::move(targets).error());
  if (targets->texts.size() != p.rows)
    return fail_in(
        p.target_file.string(),
        {error_kind::invalid_input, "holds " + std::to_string(targets->texts.size())
                                        + " targets, where " + p.file.string() + " holds "
                                        + std::to_string(p.rows) + " rows"});
  column_profiler values("", targets->decimal);
  for (const std::string& text : targets->texts)
    values.add(text);
  p.target = values.finish();
  return std::move(targets->texts);
}

void add_value(sampled_column& column, std::string_view field, char decimal) {
  if (!column.number) {
    column.codes.push_back(hash64(field));
    return;
  }
  const auto n = field_number(field, decimal);
  column.numbers.push_back(n.value_or(std::numeric_limits<double>::quiet_NaN()));
}

/// Adds a suspicion for each used column that gives the target away.
void suspect_leaks(data_profile& p, const open_csv& csv,
                   const std::vector<std::string>& targets) {
  const std::size_t width = p.table.columns.size();
  const std::size_t most = std::min<std::size_t>(20'000, 2'000'000 / width);
  const std::uint64_t stride = std::max<std::uint64_t>(1, p.rows / most);
  std::vector<sampled_column> columns(width);
  for (std::size_t i = 0; i < width; ++i)
    columns[i].number = p.table.columns[i].kind == column_kind::number;
  sampled_column target{.number = !p.task.has_classes(), .numbers = {}, .codes = {}};
  csv_row r;
  auto rows = csv.start.rows;
  for (std::uint64_t row = 0; rows.next(r).value_or(false); ++row) {
    if (row % stride != 0)
      continue;
    for (std::size_t i = 0; i < width; ++i)
      add_value(columns[i], r.fields[i], csv.form.decimal);
    add_value(target, targets.empty() ? r.fields[*p.target_column] : targets[row],
              csv.form.decimal);
  }
  for (std::size_t i = 0; i < width; ++i) {
    const auto use = use_of(p.table.columns[i]);
    if (i == p.target_column || use.ignored != ignore_reason::none)
      continue;
    if (const auto share = gives_away(columns[i], target))
      p.suspicions.push_back({.kind = suspicion_kind::gives_target_away,
                              .column = p.label(i),
                              .share = *share});
  }
}

/// Without a request, a file of targets that lies beside; else whether the request names
/// one.
std::optional<std::filesystem::path> find_target_file(const data_profile& p,
                                                      const std::string& asked) {
  if (asked.empty())
    return target_file_beside(p.file);
  std::error_code ignored;
  const bool column =
      std::ranges::count(p.table.columns, asked, &column_profile::name) > 0;
  if (!column && std::filesystem::is_regular_file(asked, ignored))
    return asked;
  return std::nullopt;
}

} // namespace

expected<data_profile> profile_csv(const profile_request& request) {
  data_profile p;
  p.format = "CSV";
  p.file = request.file;
  const std::string origin = request.file.string();
  open_csv csv;
  if (auto opened = open(request.file, csv); !opened)
    return tl::unexpected(opened.error());
  p.header = csv.start.header;
  p.delimiter = csv.form.dialect.delimiter;
  p.decimal = csv.form.decimal;
  p.encoding = csv.encoding;
  auto table = profile_rows(csv.start.rows, origin, csv.start.names, csv.form.decimal);
  if (!table)
    return tl::unexpected(std::move(table).error());
  p.table = std::move(*table);
  p.rows = p.table.rows;
  std::vector<std::string> targets;
  if (const auto file = find_target_file(p, request.target)) {
    p.target_file = *file;
    p.target_found =
        request.target.empty() ? target_reason::labels : target_reason::asked;
    auto read = read_targets(p);
    if (!read)
      return tl::unexpected(std::move(read).error());
    targets = std::move(*read);
  } else {
    const auto target = find_target(p, request.target);
    if (!target)
      return fail_in(origin, target.error());
    p.target_column = target->column;
    p.target_found = target->reason;
    p.target = p.table.columns[target->column];
  }
  std::int64_t used = 0;
  for (std::size_t i = 0; i < p.table.columns.size(); ++i)
    used +=
        p.target_column != i && use_of(p.table.columns[i]).ignored == ignore_reason::none
            ? 1
            : 0;
  p.shape.sizes = {used};
  p.task = request.task.value_or(task_of(p.target));
  suspect_leaks(p, csv, targets);
  finish_profile(p, request, csv.start.class_names);
  return p;
}

} // namespace clade
