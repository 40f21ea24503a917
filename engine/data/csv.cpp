// What the first line is, unless `header` says it:
//   * "rows,features,class names..." where there are that many further rows, one column
//     more than features, and the names are no numbers (scikit-learn's files);
//   * the names of the columns where the target or a category is asked for by name, or no
//     field but theirs is a number (and there are such fields);
//   * else a row like the others. A line that is neither (some fields numbers, some not)
//     is taken for a row, and its error says what to do if it was meant as names.
//
// A blank is an empty field, "?" or "NA"; as a class, "?" and "NA" are names like others.

#include "engine/data/csv.hpp"

#include "engine/data/csv_fields.hpp"
#include "engine/data/csv_rows.hpp"
#include "engine/data/in_quotes.hpp"
#include "search_spaces/nearest.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>

namespace clade {
namespace {

std::optional<double> number(std::string_view field) {
  return field_number(field);
}

bool is_number(std::string_view field) {
  return number(field).has_value();
}

bool is_blank(std::string_view field) {
  return field_blank(field);
}

// Position of the column that a text names by place, if it does.
std::optional<std::size_t> numbered_column(const std::string& name, std::size_t columns) {
  if (name == "last")
    return columns - 1;
  std::size_t n = 0;
  const auto [end, status] = std::from_chars(name.data(), name.data() + name.size(), n);
  if (status != std::errc{} || end != name.data() + name.size() || n == 0 || n > columns)
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
    csv_rows rows(text_);
    csv_row r;
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
      return fail(error_kind::invalid_input,
                  out_.origin + (dropped_ ? ": every row has a blank" : ": has no rows"));
    out_.count = out_.places.size();
    out_.shape.sizes = {static_cast<std::int64_t>(columns_ - 1)};
    out_.columns = std::move(names_);
    out_.target_column = target_;
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
  bool gives_counts(const csv_row& r, csv_rows following) const {
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
    csv_row second;
    auto more = following.next(second);
    if (!more || !*more || second.fields.size() != *features + 1)
      return false;
    std::uint64_t there = 0;
    for (; more && *more && there <= *rows; more = following.next(second))
      ++there;
    return there == *rows;
  }

  first_line kind_of(const csv_row& r, const csv_rows& following) const {
    if (params_.header == "none")
      return first_line::row;
    if (params_.header == "names")
      return first_line::names;
    if (params_.header == "counts" || gives_counts(r, following))
      return first_line::counts;
    std::vector<bool> text(r.fields.size(), false);
    std::vector<std::string> asked = params_.categories;
    asked.push_back(params_.target);
    for (const std::string& name : asked) {
      const auto at = numbered_column(name, r.fields.size());
      if (!at)
        return first_line::names;
      text[*at] = true;
    }
    bool judged = false;
    for (std::size_t i = 0; i < r.fields.size(); ++i) {
      if (!text[i] && (r.fields[i].empty() || is_number(r.fields[i])))
        return first_line::row;
      judged = judged || !text[i];
    }
    return judged ? first_line::names : first_line::row;
  }

  expected<void> read_first(csv_row& r, csv_rows& rows) {
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
    if (auto found = find_columns(); !found)
      return found;
    if (columns_ < 2)
      return wrong(r.line, "one column: there must be a target and one column beside it, "
                           "separated by commas");
    return kind == first_line::names ? expected<void>{} : read_row(r);
  }

  expected<void> find_columns() {
    const auto target = find_column(params_.target, "target");
    if (!target)
      return tl::unexpected(target.error());
    target_ = *target;
    category_.assign(columns_, none);
    for (const std::string& name : params_.categories) {
      const auto at = find_column(name, "category");
      if (!at)
        return tl::unexpected(at.error());
      if (*at == target_ || category_[*at] != none)
        return wrong(first_line_number_, column(*at) + " is named twice, as "
                                             + (*at == target_ ? "target and " : "")
                                             + "category");
      category_[*at] = 0;
    }
    for (std::size_t i = 0; i < columns_; ++i)
      if (category_[i] != none) {
        category_[i] = out_.categories.size();
        out_.categories.push_back(
            {.column = i - (i > target_ ? 1 : 0), .name = column(i), .values = {}});
      }
    codes_.resize(out_.categories.size());
    return {};
  }

  expected<std::size_t> find_column(const std::string& name,
                                    const std::string& use) const {
    const auto named = std::find(names_.begin(), names_.end(), name);
    if (named != names_.end()) {
      if (std::find(named + 1, names_.end(), name) != names_.end())
        return wrong(first_line_number_, "two columns are named " + in_quotes(name)
                                             + "; give the " + use + " by its number");
      return static_cast<std::size_t>(named - names_.begin());
    }
    if (const auto at = numbered_column(name, columns_))
      return *at;
    std::string message = "no column is the " + use + " " + in_quotes(name);
    if (names_.empty())
      return wrong(first_line_number_, message
                                           + ": the file has no names of columns; use a "
                                             "number from 1 to "
                                           + std::to_string(columns_) + ", or \"last\"");
    const std::string near = nearest(name, names_);
    if (!near.empty())
      return wrong(first_line_number_,
                   message + "; did you mean " + in_quotes(near) + "?");
    return wrong(first_line_number_, message + "; there are " + all_in_quotes(names_));
  }

  tl::unexpected<error> no_value(const csv_row& r, std::size_t i) const {
    const std::string_view field = r.fields[i];
    return wrong(r.line, column(i) + " has no value"
                             + (field.empty() ? "" : ", but " + in_quotes(field))
                             + "; fill it in, or say blanks = "
                             + (params_.blanks == blank_rule::mean || category_[i] != none
                                    ? "\"drop\""
                                    : "\"mean\" or \"drop\""));
  }

  expected<double> finite(const csv_row& r, std::size_t i) const {
    const std::string_view field = r.fields[i];
    const auto n = number(field);
    if (n && std::isfinite(*n) && std::abs(*n) <= std::numeric_limits<float>::max())
      return *n;
    if (is_blank(field))
      return no_value(r, i);
    const std::string where = column(i);
    if (n)
      return wrong(r.line,
                   where + " is " + in_quotes(field) + ", which is not a finite number");
    std::string advice;
    if (!names_.empty() && i != target_)
      advice = "; if the column holds categories, say categories = ["
               + in_quotes(names_[i]) + "]";
    else if (r.line == first_line_number_ && names_.empty())
      advice = "; if this line holds the names of the columns, say header = \"names\"";
    return wrong(r.line,
                 where + " is " + in_quotes(field) + ", where a number must be" + advice);
  }

  expected<void> read_row(const csv_row& r) {
    if (r.fields.size() != columns_)
      return wrong(r.line, std::to_string(r.fields.size()) + " columns, where line "
                               + std::to_string(first_line_number_) + " has "
                               + std::to_string(columns_));
    if (params_.blanks == blank_rule::drop && has_blank(r)) {
      dropped_ = true;
      return {};
    }
    for (std::size_t i = 0; i < columns_; ++i)
      if (auto read = i == target_ ? read_target(r) : read_feature(r, i); !read)
        return read;
    out_.places.push_back(r.line);
    return {};
  }

  bool has_blank(const csv_row& r) const {
    for (std::size_t i = 0; i < columns_; ++i)
      if (i == target_ && params_.task == task_kind::classification
              ? r.fields[i].empty()
              : is_blank(r.fields[i]))
        return true;
    return false;
  }

  expected<void> read_target(const csv_row& r) {
    if (params_.task == task_kind::regression) {
      const auto n = finite(r, target_);
      if (!n)
        return tl::unexpected(n.error());
      out_.targets.push_back(*n);
      return {};
    }
    const std::string_view field = r.fields[target_];
    if (field.empty())
      return wrong(r.line, column(target_) + ", the target, has no value");
    if (const auto n = number(field); n && !std::isfinite(*n))
      return wrong(r.line, column(target_) + ", the target, is " + in_quotes(field));
    add_label(field);
    return {};
  }

  expected<void> read_feature(const csv_row& r, std::size_t i) {
    if (category_[i] != none)
      return read_category(r, i);
    if (params_.blanks == blank_rule::mean && is_blank(r.fields[i])) {
      out_.features.push_back(std::numeric_limits<float>::quiet_NaN());
      return {};
    }
    const auto n = finite(r, i);
    if (!n)
      return tl::unexpected(n.error());
    out_.features.push_back(static_cast<float>(*n));
    return {};
  }

  // The feature is the value's place in order of appearance, for now.
  expected<void> read_category(const csv_row& r, std::size_t i) {
    constexpr std::size_t most = 1000;
    const std::string_view field = r.fields[i];
    if (is_blank(field))
      return no_value(r, i);
    auto& values = out_.categories[category_[i]].values;
    const auto [at, fresh] =
        codes_[category_[i]].emplace(field, static_cast<std::uint32_t>(values.size()));
    if (fresh && values.size() == most)
      return wrong(r.line, column(i) + " has more than " + std::to_string(most)
                               + " different values, too many for a category");
    if (fresh)
      values.emplace_back(field);
    out_.features.push_back(static_cast<float>(at->second));
    return {};
  }

  void add_label(std::string_view name) {
    const auto [at, fresh] =
        by_name_.emplace(name, static_cast<std::uint32_t>(out_.classes.size()));
    if (fresh)
      out_.classes.emplace_back(name);
    out_.labels.push_back(at->second);
  }

  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  std::string_view text_;
  const data_params& params_;
  examples out_;
  std::vector<std::string> names_;
  std::size_t columns_ = 0;
  std::size_t target_ = 0;
  std::uint64_t first_line_number_ = 1;
  std::unordered_map<std::string, std::uint32_t> by_name_;
  std::vector<std::size_t> category_; ///< By column: which of `out_.categories`, or none.
  std::vector<std::unordered_map<std::string, std::uint32_t>> codes_;
  bool dropped_ = false;
};

} // namespace

expected<examples> parse_csv(std::string_view text, std::string_view origin,
                             const data_params& params) {
  return csv_reader(text, origin, params).read();
}

} // namespace clade
