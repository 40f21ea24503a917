// The rows are read three times: for the columns' values, for the targets where they are
// in another file, and for a sample of at most 20,000 rows (2,000,000 fields) in which
// columns are tried for giving the target away.

#include "engine/data/bytes/csv_fields.hpp"
#include "engine/data/bytes/files_beside.hpp"
#include "engine/data/bytes/in_quotes.hpp"
#include "engine/data/columns/csv_form.hpp"
#include "engine/data/converted/data_file.hpp"
#include "engine/data/profile/data_kinds.hpp"
#include "engine/data/profile/forecast_profile.hpp"
#include "engine/data/profile/leak_search.hpp"
#include "engine/data/profile/profile_words.hpp"
#include "engine/data/profile/step_columns.hpp"
#include "engine/data/profile/target_guess.hpp"
#include "engine/data/tables/csv_start.hpp"
#include "engine/data/tables/csv_targets.hpp"
#include "genome/genes/hash.hpp"
#include "search_spaces/operators/nearest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <unordered_map>

namespace clade {
namespace {

/// A CSV that is open: its text and where its rows begin.
struct open_csv {
  csv_text text;
  csv_form form;
  csv_start start{.header = {}, .names = {}, .class_names = {}, .rows = csv_rows({})};
  std::optional<table_facts> facts; ///< There are some of a table that was in no CSV.
};

expected<void> open(const profile_request& request, open_csv& out) {
  const auto& file = request.file;
  auto read = read_data_file(file, {.name = request.array, .key = "--array"});
  if (!read)
    return tl::unexpected(std::move(read).error());
  data_params said;
  said.header = request.header;
  said.decimal = request.decimal;
  said = params_of(*read, std::move(said));
  out.facts = std::move(read->table);
  auto text = to_utf8(std::move(read->bytes), said.encoding);
  if (!text)
    return fail_in(file.string(), std::move(text).error());
  out.text = std::move(*text);
  if (out.text.text.find('\0') != std::string::npos)
    return fail_in(file.string(),
                   {error_kind::invalid_input,
                    "holds zero bytes: it is neither CSV, .npy, .npz, IDX nor CIFAR"});
  out.form = find_form(out.text.text, said);
  if (out.facts)
    out.form.texts = out.facts->texts;
  auto start = find_csv_start(out.form.rows(out.text.text), file.string(), out.form,
                              request.target, said.header);
  if (!start)
    return tl::unexpected(std::move(start).error());
  out.start = std::move(*start);
  return {};
}

/// Says what of the reading was decided without much evidence.
void note_reading(data_profile& p, const open_csv& csv) {
  const auto note = [&](std::string sentence) {
    if (!sentence.empty())
      p.note(std::move(sentence));
  };
  note(encoding_note(csv.text));
  if (csv.facts)
    for (const std::string& sentence : csv.facts->notes)
      note(sentence);
  for (std::string& sentence : form_notes(csv.text.text, csv.form))
    note(std::move(sentence));
  if (csv.start.unclear)
    note(
        csv.start.header == "names"
            ? "the first line is taken for the names of the columns; if it is a row, say "
              "--header none"
            : "the first line is taken for a row; if it names the columns, say --header "
              "names");
}

/// Finds a column by its name or number; `use` says in errors what it is for.
expected<target_guess> find_column(const data_profile& p, const std::string& asked,
                                   std::string_view use) {
  const auto& columns = p.table.columns;
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
                fmt::format("no column is the {} {}: the file has no names of "
                            "columns; use a number from 1 to {} or \"last\", or say "
                            "--header names if its first line names them",
                            use, in_quotes(asked), columns.size()));
  std::vector<std::string> names;
  for (const auto& c : columns)
    names.push_back(c.name);
  const auto near = nearest(asked, names);
  return fail(error_kind::invalid_input,
              fmt::format("no column is the {} {}{}", use, in_quotes(asked),
                          near.empty()
                              ? "; there are " + all_in_quotes(names)
                              : fmt::format("; did you mean {}?", in_quotes(near))));
}

expected<target_guess> find_target(const data_profile& p, const std::string& asked) {
  return asked.empty() ? guess_target(p.table.columns, p.header == "names")
                       : find_column(p, asked, "target");
}

/// Several targets are numbers, or labels that a row has or has not.
expected<void> take_targets(data_profile& p, const profile_request& request) {
  for (const std::string& asked : request.targets) {
    const auto target = find_target(p, asked);
    if (!target)
      return tl::unexpected(target.error());
    const auto& column = p.table.columns[target->column];
    if (p.is_target(target->column))
      return fail(error_kind::invalid_input,
                  "--targets names " + in_quotes(asked) + " twice");
    const bool label = column.kind == column_kind::yes_no;
    if (!label && column.numbers != column.values())
      return fail(error_kind::invalid_input,
                  fmt::format("the target {} holds neither numbers nor yes and no, and "
                              "so cannot be one of several",
                              in_quotes(asked)));
    p.targets.push_back(target->column);
  }
  if (p.targets.size() < 2)
    return fail(error_kind::invalid_input,
                "--targets is for several columns; for one say --target");
  if (request.forecast.of_examples())
    return fail(error_kind::invalid_input,
                "a series has one target; say --target in the place of --targets");
  p.target_column = p.targets.front();
  p.target_found = target_reason::asked;
  p.target = p.table.columns[p.targets.front()];
  return {};
}

/// Reads the targets of a file of their own, as many as there are rows.
expected<std::vector<std::string>> read_targets(data_profile& p) {
  auto targets = read_csv_targets(p.target_file);
  if (!targets)
    return tl::unexpected(std::move(targets).error());
  if (targets->texts.size() != p.rows)
    return fail_in(p.target_file.string(),
                   {error_kind::invalid_input,
                    fmt::format("holds {} targets, where {} holds {} rows",
                                targets->texts.size(), p.file.string(), p.rows)});
  column_profiler values("", targets->number);
  for (const std::string& text : targets->texts)
    values.add(text);
  p.target = values.finish();
  return std::move(targets->texts);
}

/// Says it where rows of one group have one target, as the steps of a series have.
void hint_at_series(data_profile& p, const open_csv& csv) {
  constexpr std::size_t most_groups = 1 << 20, least_rows = 4;
  if (p.split != split_kind::by_group || !p.target_column || !p.targets.empty())
    return;
  std::size_t group = 0;
  while (p.label(group) != p.split_column)
    ++group;
  std::unordered_map<std::uint64_t, std::uint64_t> target_of;
  csv_row r;
  auto rows = csv.start.rows;
  while (rows.next(r).value_or(false)) {
    const auto target = hash64(r.fields[*p.target_column]);
    if (target_of.emplace(hash64(r.fields[group]), target).first->second != target
        || target_of.size() > most_groups)
      return;
  }
  if (p.rows >= least_rows * target_of.size())
    p.note(
        fmt::format("all rows of one {} have the same target: if they are the steps of a "
                    "series, --series {} makes each series one example",
                    in_quotes(p.split_column), p.split_column));
}

/// Fails where every column but the target is left out, with the reasons.
expected<void> check_used(const data_profile& p) {
  if (p.shape.sizes.front() > 0)
    return {};
  constexpr std::size_t most = 3;
  std::string reasons;
  std::size_t said = 0;
  for (std::size_t i = 0; i < p.table.columns.size(); ++i)
    if (!p.is_apart(i) && ++said <= most)
      reasons += fmt::format(
          "{}{}: {}", said == 1 ? "" : "; ", in_quotes(p.label(i)),
          reason_text(p.table.columns[i], use_of(p.table.columns[i]).ignored));
  if (said > most)
    reasons += fmt::format("; and {} more", said - most);
  return fail(error_kind::invalid_input,
              fmt::format("no column is left to learn from ({}); what is learnt from are "
                          "numbers, categories, dates and sentences",
                          reasons));
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

/// How the text of the file is read by an experiment that is written for it.
data_params said_of(const data_profile& p, const profile_request& request) {
  return {.file = request.file,
          .header = p.names_line > 0 ? fmt::format("line {}", p.names_line) : p.header,
          .delimiter = p.delimiter,
          .decimal = std::string(1, p.decimal),
          .encoding = p.encoding};
}

expected<data_profile> profile(const profile_request& request, open_csv& csv) {
  data_profile p;
  p.file = request.file;
  const std::string origin = request.file.string();
  if (auto opened = open(request, csv); !opened)
    return tl::unexpected(opened.error());
  p.format = csv.facts ? csv.facts->kind : "CSV";
  p.array = request.array;
  p.header = csv.start.header;
  if (const auto line = title_lines(csv.text.text, csv.form); line > 0)
    p.names_line = csv.form.passed_over + 1;
  p.delimiter = delimiter_word(csv.form.dialect);
  p.decimal = csv.form.decimal;
  p.encoding = csv.text.encoding;
  note_reading(p, csv);
  auto table = profile_rows(csv.start.rows, origin, csv.start.names, csv.form);
  if (!table)
    return tl::unexpected(std::move(table).error());
  p.table = std::move(*table);
  // However few or short the texts of files are, they are texts.
  if (csv.facts && !csv.facts->files.empty())
    p.table.columns.front().kind = column_kind::text,
    p.table.columns.front().spaced = true;
  for (const repeated_name& one : csv.start.repeated)
    p.suspicions.push_back(
        {.kind = suspicion_kind::named_twice, .column = one.second, .value = one.name});
  p.rows = p.table.rows;
  std::vector<std::string> targets;
  if (const auto file =
          request.targets.empty() ? find_target_file(p, request.target) : std::nullopt) {
    p.target_file = *file;
    p.target_found =
        request.target.empty() ? target_reason::labels : target_reason::asked;
    auto read = read_targets(p);
    if (!read)
      return tl::unexpected(std::move(read).error());
    targets = std::move(*read);
  } else if (!request.targets.empty()) {
    if (auto found = take_targets(p, request); !found)
      return fail_in(origin, std::move(found).error());
  } else {
    const auto target = find_target(p, request.target);
    if (!target)
      return fail_in(origin, target.error());
    p.target_column = target->column;
    p.target_found = target->reason;
    p.target = p.table.columns[target->column];
  }
  if (!request.weights.empty()) {
    const auto weights = find_column(p, request.weights, "column of weights");
    if (!weights)
      return fail_in(origin, weights.error());
    if (p.is_target(weights->column))
      return fail_in(origin, {error_kind::invalid_input,
                              "--weights names the target; it is a column beside it"});
    p.weights = weights->column;
  }
  if (request.forecast.horizon > 0) {
    p.forecast = request.forecast;
    auto found = p.target_column
                     ? profile_forecast(p, csv.text.text, said_of(p, request))
                     : fail(error_kind::invalid_input,
                            "--horizon is for a target that is a column of the table");
    return std::move(found).map([&] { return std::move(p); });
  }
  if (!request.forecast.series.empty()) {
    if (!p.target_column)
      return fail_in(origin, {error_kind::invalid_input,
                              "--series is for a target that is a column of the table"});
    if (auto found = profile_long_table(p, request, csv.text.text, said_of(p, request));
        !found)
      return tl::unexpected(std::move(found).error());
    finish_profile(p, request);
    return p;
  }
  if (const auto images = find_listed_images(p); images && p.target_column) {
    p.task = task_for(p, request);
    if (auto listed = profile_listed_images(p, *images, csv.text.text); !listed)
      return tl::unexpected(std::move(listed).error());
    finish_profile(p, request, csv.start.class_names);
    return p;
  }
  std::int64_t used = 0;
  for (std::size_t i = 0; i < p.table.columns.size(); ++i)
    used += !p.is_apart(i) && use_of(p.table.columns[i]).ignored == ignore_reason::none
                ? 1
                : 0;
  if (auto found = take_steps(
          p, request.rows_are,
          [&] { return sample_rows(p, csv.start.rows, csv.form, targets).columns; });
      !found)
    return fail_in(origin, std::move(found).error());
  if (p.steps.count > 0)
    p.shape.sizes = {static_cast<std::int64_t>(p.steps.count), 1};
  else
    p.shape.sizes = {used};
  if (auto fine = check_used(p); !fine)
    return fail_in(origin, std::move(fine).error());
  p.task = task_for(p, request);
  // A step may tell the target, and is no column that gives it away.
  if (p.steps.count == 0)
    suspect_leaks(p, sample_rows(p, csv.start.rows, csv.form, targets));
  finish_profile(p, request, csv.start.class_names);
  hint_at_series(p, csv);
  return p;
}

} // namespace

expected<data_profile> profile_csv(const profile_request& request) {
  open_csv csv;
  auto found = profile(request, csv);
  if (!found && csv.facts)
    return tl::unexpected(csv.facts->in_rows(found.error(), request.file.string()));
  return found;
}

} // namespace clade
