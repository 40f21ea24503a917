#include "engine/data/profile/infer_columns.hpp"

#include "engine/data/arrays/array_values.hpp"
#include "engine/data/bytes/csv_fields.hpp"
#include "engine/data/bytes/in_quotes.hpp"
#include "engine/data/columns/csv_form.hpp"
#include "engine/data/converted/text_folder.hpp"
#include "engine/data/folders/class_folder.hpp"
#include "engine/data/formats/data_format.hpp"
#include "engine/data/profile/data_kinds.hpp"
#include "engine/data/profile/forecast_profile.hpp"
#include "engine/data/profile/profile_words.hpp"
#include "engine/data/tables/csv_head.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace clade {
namespace {

/// A file that is read to be profiled.
struct open_table {
  csv_text text;
  csv_form form;
  csv_head head;
  bool first_is_row = false;
  std::vector<std::string> notes{}; ///< On what was left out of another kind of file.
};

struct profiled_table {
  table_profile profile;
  /// By column, fields that are no finite numbers, but mean to be: "none" in any case,
  /// and infinities.
  std::vector<std::uint64_t> nones;
  std::uint64_t without_target = 0; ///< Rows.
};

bool is_infinite(std::string_view field, const number_form& form) {
  // A number that is infinite has no digit, or so many that no double holds it.
  const auto n = field.size() < 300 && field.find_first_of("iIeE") == field.npos
                     ? std::nullopt
                     : field_number(field, form);
  return n && std::isinf(*n);
}

/// Rows of another length than the first are left to be complained of by who reads them.
profiled_table profile(const open_table& table, std::span<const std::size_t> targets,
                       const learning_task& task) {
  const auto columns = table.head.columns;
  auto names = table.head.names;
  names.resize(columns);
  table_profiler profiler(names, table.form);
  std::vector<number_form> forms;
  for (std::size_t i = 0; i < columns; ++i)
    forms.push_back(table.form.number(i));
  profiled_table out{.profile = {}, .nones = std::vector<std::uint64_t>(columns, 0)};
  csv_rows rows = table.form.rows(table.text.text);
  csv_row r;
  for (auto more = rows.next(r); more && *more; more = rows.next(r)) {
    if (r.line < table.head.line || (r.line == table.head.line && !table.first_is_row)
        || r.fields.size() != columns)
      continue;
    const bool lacks = std::ranges::any_of(targets, [&](std::size_t i) {
      return lacks_target(r.fields[i], task, targets.size() > 1);
    });
    out.without_target += lacks ? 1 : 0;
    for (std::size_t i = 0; i < columns; ++i)
      out.nones[i] +=
          equal_in_any_case(r.fields[i], "none") || is_infinite(r.fields[i], forms[i])
              ? 1
              : 0;
    profiler.add(r.fields);
  }
  out.profile = profiler.finish();
  return out;
}

expected<open_table> open(const data_params& params, data_file read) {
  const std::string origin = params.file.string();
  auto text = to_utf8(std::move(read.bytes), params.encoding);
  if (!text)
    return fail_in(origin, std::move(text).error());
  open_table out{.text = std::move(*text), .form = {}, .head = {}};
  out.form = find_form(out.text.text, params);
  if (read.table) {
    out.form.texts = std::move(read.table->texts);
    out.notes = std::move(read.table->notes);
  }
  csv_rows rows = out.form.rows(out.text.text);
  csv_row r;
  auto head = read_head(rows, r, origin, params, out.form);
  if (!head)
    return tl::unexpected(head.error());
  out.head = std::move(*head);
  out.first_is_row = out.head.names.empty();
  return out;
}

class inference {
public:
  inference(const data_params& params, open_table table) : table_(std::move(table)) {
    out_.params = params;
  }

  expected<inferred_data> infer() {
    const auto targets = table_.head.find_targets(out_.params);
    if (!targets)
      return tl::unexpected(targets.error());
    out_.target = targets->front();
    profiled_ = profile(table_, *targets, out_.params.task);
    if (out_.params.blanks == blank_rule::impute)
      out_.without_target = profiled_.without_target;
    out_.kinds.assign(table_.head.columns, encoding_kind::number);
    auto said = find_said();
    if (!said)
      return tl::unexpected(said.error());
    for (const std::size_t i :
         targets->size() > 1 ? *targets : std::vector<std::size_t>()) {
      (*said)[i] = true;
      out_.kinds[i] = encoding_kind::ignore;
    }
    if (!out_.params.weights.empty()) {
      const auto at = table_.head.find_column(out_.params.weights, "column of weights");
      if (!at)
        return tl::unexpected(at.error());
      (*said)[*at] = true;
      out_.kinds[*at] = encoding_kind::ignore;
    }
    note_form();
    for (const std::string& note : table_.notes)
      out_.notes.push_back(note);
    for (const repeated_name& one : table_.head.repeated)
      out_.notes.push_back(repeated_name_text(one));
    for (std::size_t i = 0; i < table_.head.columns; ++i)
      if (i != out_.target && !(*said)[i])
        take(i);
    note_ignored();
    note_target();
    if (auto fine = check_used(); !fine)
      return tl::unexpected(std::move(fine).error());
    record_form();
    out_.profile = std::move(profiled_.profile);
    return std::move(out_);
  }

private:
  const column_profile& column(std::size_t i) const {
    return profiled_.profile.columns[i];
  }

  /// Returns the name that an experiment uses.
  std::string name_of(std::size_t i) const {
    const auto& names = table_.head.names;
    return i < names.size() && !names[i].empty() ? names[i] : std::to_string(i + 1);
  }

  /// Finds the columns of which something is said; their kinds are kept.
  expected<std::vector<bool>> find_said() {
    std::vector<bool> said(table_.head.columns, false);
    std::vector<column_choice> choices = out_.params.columns;
    for (const std::string& name : out_.params.categories)
      choices.push_back({name, encoding_kind::category});
    for (const std::string& name : out_.params.ignore)
      choices.push_back({name, encoding_kind::ignore});
    for (const column_choice& c : choices) {
      const auto at = table_.head.find_column(
          c.column, c.kind == encoding_kind::ignore ? "column to ignore"
                                                    : std::string(to_text(c.kind)));
      if (!at)
        return tl::unexpected(at.error());
      said[*at] = true;
      out_.kinds[*at] = c.kind;
    }
    return said;
  }

  /// If 19 of 20 values are numbers, the others are errors to be told.
  bool holds_numbers(std::size_t i) const {
    const auto& c = column(i);
    return c.numbers > 0 && 20 * (c.numbers + profiled_.nones[i]) >= 19 * c.values();
  }

  void take(std::size_t i) {
    const auto& c = column(i);
    if (holds_numbers(i) && c.kind != column_kind::date) {
      if (!c.unit.empty())
        note(i, " holds numbers with " + in_quotes(c.unit));
      if (c.index)
        note(i, fmt::format(" numbers the rows, and is a number to networks; ignore = "
                            "[{}] leaves it out",
                            in_quotes(name_of(i))));
      return;
    }
    const auto use = use_of(c);
    out_.kinds[i] =
        use.ignored == ignore_reason::none ? kind_of(use.as) : encoding_kind::ignore;
    if (out_.kinds[i] == encoding_kind::ignore) {
      out_.params.ignore.push_back(name_of(i));
      ignored_.push_back(fmt::format("{} is ignored: {}", table_.head.column(i),
                                     reason_text(c, use.ignored)));
    } else {
      out_.params.columns.push_back({name_of(i), out_.kinds[i]});
      if (out_.kinds[i] == encoding_kind::text)
        note(i, " holds " + values_text(c));
      if (c.kind == column_kind::date && c.dates < c.values())
        note(i, fmt::format(" has {} dates that no calendar has, such as {}, which are "
                            "taken for blanks",
                            c.values() - c.dates, in_quotes(c.not_date)));
    }
  }

  static encoding_kind kind_of(column_kind kind) {
    switch (kind) {
    case column_kind::category:
      return encoding_kind::category;
    case column_kind::yes_no:
      return encoding_kind::yes_no;
    case column_kind::date:
      return encoding_kind::date;
    case column_kind::text:
      return encoding_kind::text;
    default:
      return encoding_kind::number;
    }
  }

  void note(std::size_t i, const std::string& what) {
    out_.notes.push_back(table_.head.column(i) + what);
  }

  /// Says what is ignored of itself, a few columns a line each.
  void note_ignored() {
    constexpr std::size_t most = 5;
    const auto said = std::min(ignored_.size(), most);
    out_.notes.insert(out_.notes.end(), ignored_.begin(),
                      ignored_.begin() + static_cast<std::ptrdiff_t>(said));
    if (ignored_.size() > said)
      out_.notes.push_back(fmt::format("{} more columns are ignored for such reasons",
                                       ignored_.size() - said));
  }

  /// Fails where nothing is left of what was not ignored by anybody.
  expected<void> check_used() const {
    if (ignored_.empty())
      return {};
    for (std::size_t i = 0; i < out_.kinds.size(); ++i)
      if (i != out_.target && out_.kinds[i] != encoding_kind::ignore)
        return {};
    return table_.head.wrong(
        table_.head.line,
        fmt::format("no column is left to learn from: {}{}; what is "
                    "learnt from are numbers, categories, dates and sentences",
                    ignored_.front(),
                    ignored_.size() > 1
                        ? fmt::format(", and {} more are, too", ignored_.size() - 1)
                        : ""));
  }

  /// Texts of a file without names would be taken for names, if numbers were all that is
  /// left to judge by.
  void record_form() {
    auto& p = out_.params;
    if (p.header == "auto" && table_.head.class_names.empty()
        && (!p.columns.empty() || !p.ignore.empty()))
      p.header = table_.first_is_row ? "none" : "names";
    p.encoding = table_.text.encoding;
    p.decimal = std::string(1, table_.form.decimal);
    // Which quotes there are is found out with the delimiter.
    const auto& dialect = table_.form.dialect;
    p.delimiter =
        dialect.quote == '"' || dialect.first_blank ? delimiter_word(dialect) : "auto";
  }

  void note_form() {
    const auto& p = out_.params;
    if (p.encoding == "auto" || table_.text.bad_bytes > 0)
      if (auto note = encoding_note(table_.text); !note.empty())
        out_.notes.push_back(std::move(note));
    for (std::string& note : form_notes(table_.text.text, table_.form))
      out_.notes.push_back(std::move(note));
    if (p.decimal == "auto" && table_.form.decimal == ',' && table_.form.unclear.empty())
      out_.notes.push_back("a comma is before the decimals of its numbers");
  }

  void note_target() {
    constexpr std::uint64_t many = 20;
    const auto& c = column(out_.target);
    if (out_.params.task.has_classes() && c.whole && c.distinct > many)
      note(out_.target,
           fmt::format(
               ", the target, is a whole number with {} different values, which are "
               "taken for classes; to predict the number, say task = \"regression\"",
               c.distinct));
  }

  open_table table_;
  profiled_table profiled_;
  inferred_data out_;
  /// The columns that were ignored for their own sake, and why.
  std::vector<std::string> ignored_;
};

/// Nothing is to be found out of a file that holds no columns.
inferred_data nothing_inferred(data_params params) {
  const auto first = params_of_first_runs();
  for (const auto form :
       {&data_params::delimiter, &data_params::decimal, &data_params::encoding})
    if (params.*form == "auto")
      params.*form = first.*form;
  if (params.blanks == blank_rule::impute)
    params.blanks = first.blanks;
  return {.params = std::move(params)};
}

/// Says what is forecast, and how well simple forecasts do it.
expected<inferred_data> infer_forecast(const data_params& params, data_file read) {
  const std::string origin = params.file.string();
  auto text = text_of_file(std::move(read.bytes), origin, params.encoding);
  if (!text)
    return tl::unexpected(std::move(text).error());
  auto from = read_history(text->text, origin, params);
  auto windows =
      from.and_then([&](const history& h) { return training_windows(h, params); });
  if (!windows)
    return tl::unexpected(read.table ? read.table->in_rows(windows.error(), origin)
                                     : windows.error());
  inferred_data out{.params = params,
                    .notes = forecast_notes(*from, *windows, params.forecast)};
  out.params.forecast.season = static_cast<std::uint64_t>(from->season);
  out.params.forecast.step = from->grid.step_length();
  return out;
}

/// Infers the columns of a table whose series are examples.
expected<inferred_data> infer_series(const data_params& params, const open_table& table) {
  return table.head.find_column(params.target, "target")
      .and_then([&](std::size_t target) {
        return infer_series(params, table.text.text, table.head,
                            profile(table, {{target}}, params.task).profile);
      })
      .map([&](inferred_data&& found) {
        found.notes.insert(found.notes.end(), table.notes.begin(), table.notes.end());
        found.params.encoding = table.text.encoding;
        return std::move(found);
      });
}

} // namespace

expected<inferred_data> infer_columns(const data_params& params) {
  if (is_folder(params.file) && !is_text_folder(params.file))
    return nothing_inferred(params);
  if (!params.images.empty())
    return inferred_data{.params = params};
  // An array, which may be larger than memory, has no columns to be inferred; what is wrong
  // with it is said when it is read.
  if (const auto array = array_values::open(params.file); !array || *array)
    return nothing_inferred(params);
  auto read = read_data_file(params.file, {.name = params.array});
  if (!read)
    return tl::unexpected(std::move(read).error());
  if (format_of(params.file, read->bytes) != data_format::csv
      || !params.target_file.empty())
    return nothing_inferred(params);
  const auto facts = read->table;
  auto written = params_of(*read, params);
  if (facts && !facts->files.empty() && params.columns.empty() && params.ignore.empty())
    written.columns = {{text_column_name, encoding_kind::text}};
  if (params.forecast.horizon > 0)
    return infer_forecast(written, std::move(*read));
  auto inferred = open(written, std::move(*read)).and_then([&](open_table&& table) {
    if (params.forecast.of_examples())
      return infer_series(written, table);
    return inference(written, std::move(table)).infer();
  });
  if (!inferred && facts)
    return tl::unexpected(facts->in_rows(inferred.error(), params.file.string()));
  return inferred;
}

} // namespace clade
