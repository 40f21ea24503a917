// What the first line is, unless `header` says it:
//   * "rows,features,class names..." where there are that many further rows, one column
//     more than features, and the names are no numbers (scikit-learn's files);
//   * the names of the columns where the target or a category is asked for by name, or no
//     field but theirs is a number (and there are such fields);
//   * else a row like the others. A line that is neither (some fields numbers, some not)
//     is taken for a row, and its error says what to do if it was meant as names.

#include "engine/data/csv_head.hpp"

#include "engine/data/csv_fields.hpp"
#include "engine/data/in_quotes.hpp"
#include "search_spaces/nearest.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace clade {
namespace {

bool is_number(std::string_view field) {
  return field_number(field, '.') || field_number(field, ',');
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

// Columns of which something is said, and which may hold texts.
std::vector<std::string> texts_of(const data_params& params) {
  std::vector<std::string> out = params.categories;
  out.insert(out.end(), params.ignore.begin(), params.ignore.end());
  for (const column_choice& c : params.columns)
    if (c.kind != encoding_kind::number)
      out.push_back(c.column);
  return out;
}

// scikit-learn's first line, as the top of this file says; looks at what follows.
bool gives_counts(const csv_row& r, csv_rows following) {
  const auto whole = [](std::string_view field) -> std::optional<std::uint64_t> {
    std::uint64_t n = 0;
    const auto [end, status] =
        std::from_chars(field.data(), field.data() + field.size(), n);
    return status == std::errc{} && end == field.data() + field.size() ? std::optional(n)
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

first_line kind_of(const csv_row& r, const csv_rows& following,
                   const data_params& params) {
  if (params.header == "none")
    return first_line::row;
  if (params.header == "names")
    return first_line::names;
  if (params.header == "counts" || gives_counts(r, following))
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
    if (!text[i] && (r.fields[i].empty() || is_number(r.fields[i])))
      return first_line::row;
    judged = judged || !text[i];
  }
  return judged ? first_line::names : first_line::row;
}

} // namespace

std::string csv_head::column(std::size_t i) const {
  return "column " + std::to_string(i + 1)
         + (i < names.size() ? " (" + in_quotes(names[i]) + ")" : "");
}

tl::unexpected<error> csv_head::wrong(std::uint64_t at, std::string message) const {
  return fail_in(origin + ":" + std::to_string(at),
                 {error_kind::invalid_input, std::move(message)});
}

expected<std::size_t> csv_head::find_column(const std::string& name,
                                            const std::string& use) const {
  const auto named = std::find(names.begin(), names.end(), name);
  if (named != names.end())
    return static_cast<std::size_t>(named - names.begin());
  if (const auto at = numbered_column(name, columns))
    return *at;
  std::string message = "no column is the " + use + " " + in_quotes(name);
  if (names.empty())
    return wrong(line, message
                           + ": the file has no names of columns; use a "
                             "number from 1 to "
                           + std::to_string(columns) + ", or \"last\"");
  const std::string near = nearest(name, names);
  if (!near.empty())
    return wrong(line, message + "; did you mean " + in_quotes(near) + "?");
  return wrong(line, message + "; there are " + all_in_quotes(names));
}

expected<csv_head> read_head(csv_rows& rows, csv_row& r, std::string_view origin,
                             const data_params& params) {
  csv_head head{.origin = std::string(origin)};
  auto more = rows.next(r);
  if (!more)
    return head.wrong(r.line, more.error().message);
  if (!*more)
    return fail(error_kind::invalid_input, head.origin + ": is empty");
  const first_line kind = kind_of(r, rows, params);
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

bool lacks_target(std::string_view field, const learning_task& task) {
  return task.has_classes() ? field.empty() : field_blank_number(field);
}

} // namespace clade
