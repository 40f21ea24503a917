// file   := [BOM] [first] row*
// row    := field (',' field)* newline            blank lines are passed over
// field  := text | '"' (any | '""')* '"'          spaces around it do not count
//
// What the first line is, unless `header` says it:
//   * "rows,features,class names..." where there are that many further rows, one column
//   more than
//     features, and the names are no numbers (scikit-learn's files);
//   * the names of the columns where the target is asked for by name, or no field but the
//   target's
//     is a number;
//   * else a row like the others. A line that is neither (some fields numbers, some not)
//   is taken
//     for a row, and its error says what to do if it was meant as names.
//
// One pass over the text; a row's fields are views of it, and only quoted ones are
// copied.

#include "engine/data/csv.hpp"

#include "search_spaces/nearest.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>
#include <unordered_map>

namespace clade {
namespace {

std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 40;
  std::string out = "\"";
  for (const char c : text.substr(0, longest))
    out += static_cast<unsigned char>(c) < ' ' ? '?' : c;
  return out + (text.size() > longest ? "...\"" : "\"");
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// A number as people and programs write it; nothing else may follow. NaN and infinities
// are numbers here, so that they can be refused by name.
std::optional<double> number(std::string_view field) {
  if (field.starts_with('+'))
    field.remove_prefix(1);
  double v = 0;
  const auto [end, status] =
      std::from_chars(field.data(), field.data() + field.size(), v);
  if (end != field.data() + field.size() || field.empty())
    return std::nullopt;
  if (status == std::errc::result_out_of_range)
    return std::numeric_limits<double>::infinity();
  if (status != std::errc{})
    return std::nullopt;
  return v;
}

bool is_number(std::string_view field) {
  return number(field).has_value();
}

struct row {
  std::uint64_t line = 0;
  std::vector<std::string_view> fields;
  std::deque<std::string> unquoted; ///< What the views of quoted fields look at.
};

class row_reader {
public:
  explicit row_reader(std::string_view text) : text_(text) {
    if (text_.starts_with("\xEF\xBB\xBF"))
      text_.remove_prefix(3);
  }

  /// False at the end. An error, of a quote that is not closed, has no place yet.
  expected<bool> next(row& r) {
    r.fields.clear();
    r.unquoted.clear();
    while (position_ < text_.size()) {
      const std::size_t end = std::min(text_.find('\n', position_), text_.size());
      if (!trimmed(text_.substr(position_, end - position_)).empty())
        break;
      position_ = std::min(end + 1, text_.size());
      ++line_;
    }
    r.line = line_;
    if (position_ >= text_.size())
      return false;
    for (;;) {
      if (auto read = read_field(r); !read)
        return tl::unexpected(std::move(read).error());
      if (position_ >= text_.size())
        return true;
      if (text_[position_++] == '\n') {
        ++line_;
        return true;
      }
    }
  }

private:
  // Leaves `position_` at the comma, the newline or the end after it.
  expected<void> read_field(row& r) {
    const std::size_t first = text_.find_first_not_of(" \t", position_);
    if (first != std::string_view::npos && text_[first] == '"') {
      position_ = first + 1;
      return read_quoted(r);
    }
    const std::size_t end = std::min(text_.find_first_of(",\n", position_), text_.size());
    r.fields.push_back(trimmed(text_.substr(position_, end - position_)));
    position_ = end;
    return {};
  }

  expected<void> read_quoted(row& r) {
    std::string& field = r.unquoted.emplace_back();
    for (;;) {
      const std::size_t quote = text_.find('"', position_);
      if (quote == std::string_view::npos)
        return fail(error_kind::invalid_input, "a quote is opened here and never closed");
      const std::string_view part = text_.substr(position_, quote - position_);
      line_ += static_cast<std::uint64_t>(std::count(part.begin(), part.end(), '\n'));
      field += part;
      position_ = quote + 1;
      if (position_ >= text_.size() || text_[position_] != '"')
        break;
      field += '"';
      ++position_;
    }
    r.fields.push_back(trimmed(field));
    const std::size_t end = std::min(text_.find_first_of(",\n", position_), text_.size());
    if (!trimmed(text_.substr(position_, end - position_)).empty())
      return fail(error_kind::invalid_input, "text follows a closing quote");
    position_ = end;
    return {};
  }

  std::string_view text_;
  std::size_t position_ = 0;
  std::uint64_t line_ = 1;
};

// Position of the column that `target` names, if it names one by place.
std::optional<std::size_t> numbered_column(const std::string& target,
                                           std::size_t columns) {
  if (target == "last")
    return columns - 1;
  std::size_t n = 0;
  const auto [end, status] =
      std::from_chars(target.data(), target.data() + target.size(), n);
  if (status != std::errc{} || end != target.data() + target.size() || n == 0
      || n > columns)
    return std::nullopt;
  return n - 1;
}

enum class first_line : std::uint8_t { row, names, counts };

class csv_reader {
public:
  csv_reader(std::string_view text, std::string_view origin, const data_params& params)
      : text_(text),
        params_(params) {
    out_.origin = std::string(origin);
    out_.by_line = true;
  }

  expected<examples> read() {
    row_reader rows(text_);
    row r;
    auto more = rows.next(r);
    if (!more)
      return wrong(r.line, more.error().message);
    if (!*more)
      return fail(error_kind::invalid_input, out_.origin + ": is empty");
    if (auto read = read_first(r, rows); !read)
      return tl::unexpected(std::move(read).error());
    while ((more = rows.next(r))) {
      if (!*more)
        break;
      if (auto read = read_row(r); !read)
        return tl::unexpected(std::move(read).error());
    }
    if (!more)
      return wrong(r.line, more.error().message);
    if (out_.places.empty())
      return fail(error_kind::invalid_input, out_.origin + ": has no rows");
    out_.count = out_.places.size();
    out_.shape.sizes = {static_cast<std::int64_t>(columns_ - 1)};
    return std::move(out_);
  }

private:
  tl::unexpected<error> wrong(std::uint64_t line, std::string message) const {
    return fail_in(out_.origin + ":" + std::to_string(line),
                   {error_kind::invalid_input, std::move(message)});
  }

  std::string column(std::size_t i) const {
    return "column " + std::to_string(i + 1)
           + (i < names_.size() ? " (" + in_quotes(names_[i]) + ")" : "");
  }

  // scikit-learn's first line, as the top of this file says; looks at what follows.
  bool gives_counts(const row& r, row_reader following) const {
    const auto whole = [](std::string_view field) -> std::optional<std::uint64_t> {
      std::uint64_t n = 0;
      const auto [end, status] =
          std::from_chars(field.data(), field.data() + field.size(), n);
      return status == std::errc{} && end == field.data() + field.size()
                 ? std::optional(n)
                 : std::nullopt;
    };
    const auto rows = r.fields.size() < 4 ? std::nullopt : whole(r.fields[0]);
    const auto features = rows ? whole(r.fields[1]) : std::nullopt;
    if (!features || std::any_of(r.fields.begin() + 2, r.fields.end(), is_number))
      return false;
    row second;
    auto more = following.next(second);
    if (!more || !*more || second.fields.size() != *features + 1)
      return false;
    std::uint64_t there = 0;
    for (; more && *more && there <= *rows; more = following.next(second))
      ++there;
    return there == *rows;
  }

  first_line kind_of(const row& r, const row_reader& following) const {
    if (params_.header == "none")
      return first_line::row;
    if (params_.header == "names")
      return first_line::names;
    if (params_.header == "counts" || gives_counts(r, following))
      return first_line::counts;
    const auto target = numbered_column(params_.target, r.fields.size());
    if (!target)
      return first_line::names;
    for (std::size_t i = 0; i < r.fields.size(); ++i)
      if (i != *target && (r.fields[i].empty() || is_number(r.fields[i])))
        return first_line::row;
    return first_line::names;
  }

  expected<void> read_first(row& r, row_reader& rows) {
    const first_line kind = kind_of(r, rows);
    first_line_number_ = r.line;
    if (kind == first_line::counts) {
      for (std::size_t i = 2; i < r.fields.size(); ++i)
        out_.class_names.emplace_back(r.fields[i]);
      if (auto more = rows.next(r); !more || !*more)
        return wrong(r.line,
                     more ? "no rows follow the first line" : more.error().message);
      first_line_number_ = r.line;
    }
    columns_ = r.fields.size();
    if (kind == first_line::names)
      names_.assign(r.fields.begin(), r.fields.end());
    if (auto found = find_target(); !found)
      return found;
    if (columns_ < 2)
      return wrong(r.line, "one column: there must be a target and one column beside it, "
                           "separated by commas");
    return kind == first_line::names ? expected<void>{} : read_row(r);
  }

  expected<void> find_target() {
    const auto named = std::find(names_.begin(), names_.end(), params_.target);
    if (named != names_.end()) {
      if (std::find(named + 1, names_.end(), params_.target) != names_.end())
        return wrong(first_line_number_, "two columns are named "
                                             + in_quotes(params_.target)
                                             + "; give the target by its number");
      target_ = static_cast<std::size_t>(named - names_.begin());
      return {};
    }
    if (const auto at = numbered_column(params_.target, columns_)) {
      target_ = *at;
      return {};
    }
    std::string message = "no column is the target " + in_quotes(params_.target);
    if (names_.empty())
      return wrong(first_line_number_, message
                                           + ": the file has no names of columns; use a "
                                             "number from 1 to "
                                           + std::to_string(columns_) + ", or \"last\"");
    const std::string near = nearest(params_.target, names_);
    if (!near.empty())
      return wrong(first_line_number_,
                   message + "; did you mean " + in_quotes(near) + "?");
    std::string all;
    for (std::size_t i = 0; i < std::min<std::size_t>(names_.size(), 12); ++i)
      all += (i == 0 ? "" : ", ") + in_quotes(names_[i]);
    return wrong(first_line_number_,
                 message + "; there are " + all + (names_.size() > 12 ? ", ..." : ""));
  }

  expected<double> finite(const row& r, std::size_t i) const {
    const std::string_view field = r.fields[i];
    const auto n = number(field);
    if (n && std::isfinite(*n) && std::abs(*n) <= std::numeric_limits<float>::max())
      return *n;
    const std::string where = column(i);
    if (field.empty() || field == "?" || field == "NA")
      return wrong(r.line, where + " has no value"
                               + (field.empty() ? "" : ", but " + in_quotes(field))
                               + "; fill it in or leave the row out");
    if (n)
      return wrong(r.line,
                   where + " is " + in_quotes(field) + ", which is not a finite number");
    std::string advice;
    if (r.line == first_line_number_ && names_.empty())
      advice = "; if this line holds the names of the columns, say header = \"names\"";
    return wrong(r.line,
                 where + " is " + in_quotes(field) + ", where a number must be" + advice);
  }

  expected<void> read_row(const row& r) {
    if (r.fields.size() != columns_)
      return wrong(r.line, std::to_string(r.fields.size()) + " columns, where line "
                               + std::to_string(first_line_number_) + " has "
                               + std::to_string(columns_));
    for (std::size_t i = 0; i < columns_; ++i) {
      if (i == target_ && params_.task == task_kind::classification) {
        if (r.fields[i].empty())
          return wrong(r.line, column(i) + ", the target, has no value");
        if (const auto n = number(r.fields[i]); n && !std::isfinite(*n))
          return wrong(r.line, column(i) + ", the target, is " + in_quotes(r.fields[i]));
        add_label(r.fields[i]);
        continue;
      }
      const auto n = finite(r, i);
      if (!n)
        return tl::unexpected(n.error());
      if (i == target_)
        out_.targets.push_back(*n);
      else
        out_.features.push_back(static_cast<float>(*n));
    }
    out_.places.push_back(r.line);
    return {};
  }

  void add_label(std::string_view name) {
    const auto [at, fresh] =
        by_name_.emplace(name, static_cast<std::uint32_t>(out_.classes.size()));
    if (fresh)
      out_.classes.emplace_back(name);
    out_.labels.push_back(at->second);
  }

  std::string_view text_;
  const data_params& params_;
  examples out_;
  std::vector<std::string> names_;
  std::size_t columns_ = 0;
  std::size_t target_ = 0;
  std::uint64_t first_line_number_ = 1;
  std::unordered_map<std::string, std::uint32_t> by_name_;
};

} // namespace

expected<examples> parse_csv(std::string_view text, std::string_view origin,
                             const data_params& params) {
  return csv_reader(text, origin, params).read();
}

} // namespace clade
