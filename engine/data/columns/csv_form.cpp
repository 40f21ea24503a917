// A first line "sep=;" (also in quotes) says what the delimiter is, and is passed over.
//
// The delimiter is the one of , ; tab | that parts the first 500 rows (of 256 KiB at
// most) into the same number of columns, two at least, nine rows of ten, but for short
// ones at the front; if several do, the one by which most fields are numbers or dates; of
// equals, the first of that list. If none does, spaces part them, where that makes numbers
// of half of the fields; else the first blank of each line, where these are labels and
// sentences (labelled_lines.hpp).
//
// The quote is ' where no field begins with " and at least one field both begins and ends
// with '; else ". Between tabs there is none where all rows are of one length without
// quotes, and with them something is wrong or a field goes over several lines.
//
// Titles are lines at the front, 20 at most, in which at most half of the columns and at
// most two hold something, the first of them a text. If one line is as long as the rows,
// no row of the sample may be such a title. They are passed over.
//
// The decimal mark is the one that more fields show ("3,5" or "1.234,5"; "3.5", "0.249"
// or "1,234.5"). If the sample shows none but has fields that can be read either way
// ("1.234"), all rows are asked. If none shows any, `likely` decides; without it, between
// other delimiters than commas, "1,234" is taken for decimals, and so is "1.234", unless
// its column has whole numbers below 1000 without a mark and none above, as thousands
// with a mark have. That is unclear, and said.
//
// A column's unit is the one that more than half of its numbers have.

#include "engine/data/columns/csv_form.hpp"

#include "engine/data/bytes/csv_fields.hpp"
#include "engine/data/bytes/in_quotes.hpp"
#include "engine/data/bytes/labelled_lines.hpp"
#include "engine/data/numbers/field_date.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

namespace clade {
namespace {

constexpr std::size_t sample_rows = 500, sample_bytes = 256 << 10, most_titles = 20;
constexpr std::string_view delimiters = ",;\t|";

std::string_view sample_of(std::string_view text) {
  if (text.size() <= sample_bytes)
    return text;
  const auto whole = text.rfind('\n', sample_bytes);
  return text.substr(0, whole == std::string_view::npos ? sample_bytes : whole + 1);
}

/// The way in which the numbers of one column are written.
struct column_look {
  std::map<std::string, std::size_t, std::less<>> units;
  std::size_t numbers = 0;          ///< But for 0, which needs no unit.
  std::size_t open_points = 0;      ///< Such as 1.234.
  std::size_t small = 0, large = 0; ///< Whole numbers without a mark; from 1000 on.

  void add(std::string_view field, const written_number& read) {
    if (read.value != 0) {
      ++numbers;
      if (!read.unit.empty())
        ++units.try_emplace(std::string(read.unit), 0).first->second;
    }
    if (std::ranges::all_of(field, [](char c) { return c >= '0' && c <= '9'; }))
      ++(field.size() <= 3 ? small : large);
  }
  [[nodiscard]] std::string unit() const {
    for (const auto& [unit, count] : units)
      if (2 * count > numbers)
        return unit;
    return "";
  }
  [[nodiscard]] bool thousands() const {
    return open_points > 0 && small > 0 && large == 0;
  }
};

/// The width of a row, and how much of it is filled.
struct row_look {
  std::uint64_t line = 0;
  std::size_t width = 0, filled = 0;
  bool text_first = false; ///< The first field is a text.
  bool spaced = false;     ///< It has a space in it.

  /// Whether it can be a title of a table of that width.
  [[nodiscard]] bool sparse(std::size_t columns) const {
    const bool few = filled <= 2 && 2 * filled <= columns && (filled == 0 || text_first);
    // The names of columns may be one too few, over numbers of rows.
    return few && columns > 1 && (width >= columns || width + 1 < columns || spaced);
  }
};

/// The result of reading the sample by a dialect.
struct reading {
  bool fits = false;
  std::size_t width = 0; ///< The width of most rows.
  double values = 0;     ///< Share of the fields that are numbers or dates.
  std::size_t quoted = 0;
  std::array<std::size_t, 4> evidence{}; ///< By decimal_evidence.
  std::size_t open_commas = 0;           ///< Unclear ones such as 1,234.
  std::string unclear{};                 ///< The first such.
  std::vector<column_look> columns{};
  std::vector<row_look> front{};
  std::uint64_t last_sparse = 0; ///< The last line that a title could be.

  [[nodiscard]] std::size_t shown(decimal_evidence e) const {
    return evidence[static_cast<std::size_t>(e)];
  }
};

bool in_single_quotes(std::string_view field) {
  return field.size() >= 2 && field.front() == '\'' && field.back() == '\'';
}

bool is_date(std::string_view field) {
  return field_date(field, date_order::year_month_day)
         || field_date(field, date_order::day_month_year)
         || field_date(field, date_order::month_day_year);
}

class form_reader {
public:
  form_reader(csv_rows rows, std::size_t most) : rows_(rows), most_(most) {}

  reading read() {
    csv_row r;
    for (; read_ < most_; ++read_) {
      const auto more = rows_.next(r);
      if (!more || !*more)
        break;
      ++widths_[r.fields.size()];
      add_row(r);
    }
    finish();
    return std::move(out_);
  }

private:
  void add_row(const csv_row& r) {
    row_look look{.line = r.line, .width = r.fields.size()};
    out_.columns.resize(std::max(out_.columns.size(), r.fields.size()));
    for (std::size_t i = 0; i < r.fields.size(); ++i) {
      const bool number = add_field(r.fields[i], out_.columns[i]);
      look.filled += r.fields[i].empty() ? 0 : 1;
      if (i == 0) {
        look.text_first = !r.fields[i].empty() && !number;
        look.spaced = r.fields[i].find(' ') != std::string_view::npos;
      }
    }
    fields_ += r.fields.size();
    if (look.sparse(look.width))
      out_.last_sparse = r.line;
    if (out_.front.size() <= most_titles)
      out_.front.push_back(look);
  }

  /// Whether it is a number.
  bool add_field(std::string_view field, column_look& column) {
    if (in_single_quotes(field)) {
      ++out_.quoted;
      field = field.substr(1, field.size() - 2);
    }
    const auto evidence = decimal_of(field);
    ++out_.evidence[static_cast<std::size_t>(evidence)];
    if (evidence == decimal_evidence::unclear) {
      const bool comma = field.find(',') != std::string_view::npos;
      ++(comma ? out_.open_commas : column.open_points);
      if (out_.unclear.empty())
        out_.unclear = field;
    }
    auto number = read_number(field, evidence == decimal_evidence::comma ? ',' : '.');
    values_ += number || is_date(field) ? 1 : 0;
    if (number)
      column.add(field, *number);
    return number.has_value();
  }

  void finish() {
    const auto usual = std::ranges::max_element(
        widths_, {}, [](const auto& width) { return width.second; });
    if (usual == widths_.end())
      return;
    out_.width = usual->first;
    const auto first = std::ranges::find(out_.front, out_.width, &row_look::width);
    const auto short_ones = std::count_if(
        out_.front.begin(), first == out_.front.end() ? out_.front.begin() : first,
        [&](const row_look& r) { return r.width < out_.width; });
    out_.fits =
        usual->first > 1
        && usual->second * 10 >= (read_ - static_cast<std::size_t>(short_ones)) * 9;
    out_.values = static_cast<double>(values_) / static_cast<double>(fields_);
  }

  csv_rows rows_;
  std::size_t most_;
  reading out_;
  std::map<std::size_t, std::size_t> widths_;
  std::size_t read_ = 0, fields_ = 0, values_ = 0;
};

reading read_as(std::string_view sample, const csv_form& form,
                std::size_t most = sample_rows) {
  return form_reader(form.rows(sample), most).read();
}

/// The delimiter, or a form by the first blank.
csv_dialect find_delimiter(std::string_view text, csv_form form) {
  const auto sample = sample_of(text);
  char best = ',';
  double most = -1;
  for (const char delimiter : {',', ';', '\t', '|'}) {
    form.dialect.delimiter = delimiter;
    if (const auto r = read_as(sample, form); r.fits && r.values > most) {
      best = delimiter;
      most = r.values;
    }
  }
  form.dialect = {.delimiter = '\t', .quote = '\0'};
  if (most < 0 && read_as(sample, form).fits)
    return form.dialect;
  form.dialect = {.delimiter = ' '};
  if (most < 0)
    if (const auto r = read_as(sample, form); r.fits && r.values >= 0.5)
      return {.delimiter = ' '};
  if (most < 0 && begins_with_labels(text))
    return {.delimiter = ' ', .quote = '\0', .first_blank = true};
  return {.delimiter = best};
}

/// Whether quotes mean nothing to a table by tabs.
bool quotes_are_text(std::string_view text, csv_form form, std::size_t width) {
  if (form.dialect.delimiter != '\t' || text.find('"') == std::string_view::npos)
    return false;
  bool wrong = false;
  csv_row r;
  auto quoted = form.rows(text);
  for (auto more = quoted.next(r); !wrong; more = quoted.next(r)) {
    if (more && !*more)
      break;
    wrong = !more || r.fields.size() != width
            || std::ranges::any_of(r.fields, [](std::string_view field) {
                 return field.find('\n') != std::string_view::npos;
               });
  }
  if (!wrong)
    return false;
  form.dialect.quote = '\0';
  auto plain = form.rows(text);
  while (plain.next(r).value_or(false))
    if (r.fields.size() != width)
      return false;
  return true;
}

/// The delimiter that a first line "sep=;" names, if it is such a line.
std::optional<char> named_delimiter(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF"))
    text.remove_prefix(3);
  auto line = text.substr(0, text.find('\n'));
  if (line.ends_with('\r'))
    line.remove_suffix(1);
  if (line.size() == 7 && line.front() == '"' && line.back() == '"')
    line = line.substr(1, 5);
  if (line.size() != 5 || !equal_in_any_case(line.substr(0, 4), "sep=")
      || delimiters.find(line[4]) == std::string_view::npos)
    return std::nullopt;
  return line[4];
}

/// How many lines `header = "line 3"` leaves before the names; nothing where it is
/// another word.
std::optional<std::uint64_t> lines_before_names(const data_params& params) {
  if (const auto line = line_of_names(params.header))
    return *line - 1;
  return std::nullopt;
}

/// How many lines stand before the first row that is no title; `before` are passed over
/// already.
std::uint64_t lines_of_titles(const reading& r, std::uint64_t before) {
  std::uint64_t last = 0;
  bool full = false; // Whether a title is as long as a row.
  for (const row_look& row : r.front) {
    if (!row.sparse(r.width))
      return last == 0 || (full && r.last_sparse > last) ? before : row.line - 1;
    last = row.line;
    full = full || row.width >= r.width;
  }
  return before;
}

char find_decimal(const reading& r, char delimiter, std::optional<char> likely,
                  std::string& unclear) {
  const auto points = r.shown(decimal_evidence::point);
  const auto commas = r.shown(decimal_evidence::comma);
  if (points != commas)
    return points > commas ? '.' : ',';
  if (likely || points > 0 || r.shown(decimal_evidence::unclear) == 0)
    return likely.value_or('.');
  if (r.open_commas > 0 && delimiter == ',')
    return '.';
  unclear = r.unclear;
  return r.open_commas > 0 || std::ranges::any_of(r.columns, &column_look::thousands)
             ? ','
             : '.';
}

} // namespace

csv_form find_form(std::string_view text, const data_params& params,
                   std::optional<char> likely) {
  const auto sample = sample_of(text);
  csv_form out;
  const auto named = named_delimiter(text);
  const bool asked = params.delimiter != "auto";
  const bool by_blank = params.delimiter == first_blank_word;
  out.passed_over = named ? 1 : 0;
  const auto before = lines_before_names(params);
  if (before)
    out.passed_over = *before;
  out.dialect = by_blank
                    ? csv_dialect{.delimiter = ' ', .quote = '\0', .first_blank = true}
                : asked ? csv_dialect{.delimiter = params.delimiter.front()}
                : named ? csv_dialect{.delimiter = *named}
                        : find_delimiter(text, out);
  auto shown = read_as(sample, out);
  if (!asked && shown.quoted > 0 && sample.find('"') == std::string_view::npos) {
    out.dialect.quote = '\'';
    shown = read_as(sample, out);
  }
  if (quotes_are_text(text, out, shown.width)) {
    out.dialect.quote = '\0';
    shown = read_as(sample, out);
  }
  if (!before && !out.dialect.first_blank)
    out.passed_over = lines_of_titles(shown, out.passed_over);
  for (const column_look& column : shown.columns)
    out.units.push_back(column.unit());
  while (!out.units.empty() && out.units.back().empty())
    out.units.pop_back();
  const bool open = shown.shown(decimal_evidence::point) == 0
                    && shown.shown(decimal_evidence::comma) == 0
                    && shown.shown(decimal_evidence::unclear) > 0;
  if (params.decimal == "auto" && open)
    shown = read_as(text, out, text.size());
  out.decimal = params.decimal != "auto"
                    ? params.decimal.front()
                    : find_decimal(shown, out.dialect.delimiter, likely, out.unclear);
  return out;
}

std::string delimiter_word(const csv_dialect& dialect) {
  return dialect.first_blank ? std::string(first_blank_word)
                             : std::string(1, dialect.delimiter);
}

std::uint64_t title_lines(std::string_view text, const csv_form& form) {
  return form.passed_over - (named_delimiter(text) && form.passed_over > 0 ? 1 : 0);
}

std::vector<std::string> form_notes(std::string_view text, const csv_form& form) {
  std::vector<std::string> notes;
  if (const auto titles = title_lines(text, form); titles > 0) {
    const auto last = std::to_string(form.passed_over);
    csv_rows rows(text, form.dialect, form.passed_over - titles);
    csv_row r;
    const bool read = rows.next(r).value_or(false) && !r.fields.empty();
    notes.push_back(fmt::format(
        "{} passed over as titles{}; if the names of the columns stand in another line "
        "than {}, say so with header = \"line 1\" or the like under [data]",
        titles == 1
            ? fmt::format("line {} is", last)
            : fmt::format("lines {} to {} are", form.passed_over - titles + 1, last),
        read ? fmt::format(" ({})", in_quotes(r.fields.front())) : "",
        form.passed_over + 1));
  }
  if (!form.unclear.empty())
    notes.push_back(fmt::format(
        "whether {} has thousands or decimals, nothing in the file shows; {} is taken to "
        "stand before the decimals; decimal = {} under [data] reads it the other way",
        in_quotes(form.unclear), form.decimal == '.' ? "a point" : "a comma",
        form.decimal == '.' ? "\",\"" : "\".\""));
  return notes;
}

} // namespace clade
