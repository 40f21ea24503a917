// The first line is, unless `header` says it:
//   * scikit-learn's counts;
//   * the names of the columns where the target or a category is asked for by name, or no
//     field but theirs is a number (and there are such fields) and the target's does not
//     come again below, or `guess_first_line` takes it for names;
//   * else a row like the others.

#include "engine/data/tables/csv_head.hpp"

#include "engine/data/bytes/csv_fields.hpp"
#include "engine/data/bytes/in_quotes.hpp"
#include "engine/data/columns/first_line.hpp"
#include "genome/base/text.hpp"
#include "search_spaces/operators/nearest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace clade {
namespace {

bool is_number(std::string_view field) {
  return read_number(field, '.') || read_number(field, ',');
}

// Columns of which something is said, and which may hold texts.
std::vector<std::string> texts_of(const data_params& params) {
  std::vector<std::string> out = params.categories;
  out.insert(out.end(), params.ignore.begin(), params.ignore.end());
  for (const column_choice& c : params.columns)
    if (c.kind != encoding_kind::number)
      out.push_back(c.column);
  return out;
}

/// Whether the field of that column stands in one of the next rows, too.
bool comes_again(const csv_row& first, csv_rows following, std::size_t column) {
  constexpr int looked_at = 200;
  csv_row r;
  for (int row = 0; row < looked_at && following.next(r).value_or(false); ++row)
    if (column < r.fields.size() && r.fields[column] == first.fields[column])
      return true;
  return false;
}

first_line kind_of(const csv_row& r, const csv_rows& following, const data_params& params,
                   const csv_form& form) {
  if (params.header == "none" || (params.header == "auto" && form.dialect.first_blank))
    return first_line::row;
  if (params.header == "counts")
    return first_line::counts;
  if (params.header != "auto")
    return first_line::names;
  if (gives_counts(r.fields, following))
    return first_line::counts;
  std::vector<bool> text(r.fields.size(), false);
  std::vector<std::string> asked = texts_of(params);
  asked.push_back(params.target);
  for (const std::string& name : asked) {
    const auto at = numbered_column(name, r.fields.size());
    if (!at)
      return first_line::names;
    text[*at] = true;
  }
  bool judged = false;
  for (std::size_t i = 0; i < r.fields.size(); ++i) {
    if (!text[i] && (field_blank_number(r.fields[i]) || is_number(r.fields[i])))
      return guess_first_line(r.fields, following, form).is;
    judged = judged || !text[i];
  }
  const auto target = numbered_column(params.target, r.fields.size());
  return judged && !comes_again(r, following, *target) ? first_line::names
                                                       : first_line::row;
}

} // namespace

std::string csv_head::column(std::size_t i) const {
  return fmt::format("column {}{}", i + 1,
                     i < names.size() ? fmt::format(" ({})", in_quotes(names[i])) : "");
}

std::string csv_head::name(std::size_t i) const {
  return i < names.size() ? names[i] : std::to_string(i + 1);
}

std::string csv_head::other_length(std::size_t fields) const {
  return fmt::format("{} columns, where line {} has {}", fields, line, columns);
}

tl::unexpected<error> csv_head::wrong(std::uint64_t at, std::string message) const {
  return fail_in(fmt::format("{}:{}", origin, at),
                 {error_kind::invalid_input, std::move(message)});
}

expected<std::size_t> csv_head::find_column(const std::string& name,
                                            const std::string& use) const {
  const auto named = std::find(names.begin(), names.end(), name);
  if (named != names.end())
    return static_cast<std::size_t>(named - names.begin());
  if (const auto at = numbered_column(name, columns))
    return *at;
  std::string message = fmt::format("no column is the {} {}", use, in_quotes(name));
  if (names.empty())
    return wrong(line, fmt::format("{}: the file has no names of columns; use a number "
                                   "from 1 to {}, or \"last\"",
                                   message, columns));
  const std::string near = nearest(name, names);
  if (!near.empty())
    return wrong(line, fmt::format("{}; did you mean {}?", message, in_quotes(near)));
  return wrong(line, fmt::format("{}; there are {}", message, all_in_quotes(names)));
}

std::optional<std::size_t> numbered_column(const std::string& name, std::size_t columns) {
  if (name == "last")
    return columns - 1;
  const auto n = parse_number<std::size_t>(name).value_or(0);
  if (n == 0 || n > columns)
    return std::nullopt;
  return n - 1;
}

expected<csv_head> read_head(csv_rows& rows, csv_row& r, std::string_view origin,
                             const data_params& params, const csv_form& form) {
  csv_head head{.origin = std::string(origin)};
  auto more = rows.next(r);
  if (!more)
    return head.wrong(r.line, more.error().message);
  if (!*more)
    return fail(error_kind::invalid_input, head.origin + ": is empty");
  const first_line kind = kind_of(r, rows, params, form);
  if (kind == first_line::counts) {
    for (std::size_t i = 2; i < r.fields.size(); ++i)
      head.class_names.emplace_back(r.fields[i]);
    if (more = rows.next(r); !more || !*more)
      return head.wrong(r.line,
                        more ? "no rows follow the first line" : more.error().message);
  }
  head.line = r.line;
  head.columns = r.fields.size();
  if (kind == first_line::names)
    head.names.assign(r.fields.begin(), r.fields.end());
  head.repeated = number_equal_names(head.names);
  return head;
}

expected<std::vector<std::size_t>>
csv_head::find_targets(const data_params& params) const {
  if (params.targets.empty())
    return find_column(params.target, "target").map([](std::size_t at) {
      return std::vector{at};
    });
  std::vector<std::size_t> places;
  for (const std::string& target : params.targets) {
    const auto at = find_column(target, "target");
    if (!at)
      return tl::unexpected(at.error());
    if (std::ranges::find(places, *at) != places.end())
      return wrong(line, column(*at) + " is named twice as target");
    places.push_back(*at);
  }
  return places;
}

bool lacks_target(std::string_view field, const learning_task& task, bool several) {
  if (several)
    return field_blank_number(field);
  return task.has_classes() ? field.empty()
                            : !task.has_labels() && field_blank_number(field);
}

} // namespace clade
