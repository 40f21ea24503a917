#include "engine/data/tables/csv_start.hpp"

#include "engine/data/columns/first_line.hpp"
#include "engine/data/tables/csv_head.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace clade {
namespace {

first_line_guess kind_of(const csv_row& first, const csv_rows& following,
                         const csv_form& form, std::string_view target,
                         std::string_view header) {
  if (header == "counts")
    return {first_line::counts};
  if (header == "none" || (header == "auto" && form.dialect.first_blank))
    return {first_line::row};
  const bool named = !target.empty()
                     && !numbered_column(std::string(target), first.fields.size())
                     && std::ranges::find(first.fields, target) != first.fields.end();
  if (header != "auto" || named)
    return {first_line::names};
  return guess_first_line(first.fields, following, form);
}

/// The columns of a file whose first line counts them, or else the line's own.
std::size_t counted_columns(const csv_row& first) {
  std::size_t features = first.fields.size() - 1;
  if (first.fields.size() > 1)
    std::from_chars(first.fields[1].data(),
                    first.fields[1].data() + first.fields[1].size(), features);
  return std::min<std::size_t>(features, 1 << 20) + 1;
}

} // namespace

expected<csv_start> find_csv_start(csv_rows rows, std::string_view origin,
                                   const csv_form& form, std::string_view target,
                                   std::string_view header) {
  csv_row r;
  const csv_rows all = rows;
  auto more = rows.next(r);
  const auto wrong = [&](const std::string& message) {
    return fail_in(fmt::format("{}:{}", origin, r.line),
                   {error_kind::invalid_input, message});
  };
  if (!more)
    return wrong(more.error().message);
  if (!*more)
    return fail_in(origin, {error_kind::invalid_input, "is empty"});
  const auto guess = kind_of(r, rows, form, target, header);
  csv_start out{.header = "none",
                .unclear = guess.unclear,
                .names = std::vector<std::string>(r.fields.size()),
                .repeated = {},
                .class_names = {},
                .rows = all};
  if (guess.is == first_line::counts) {
    out.header = "counts";
    out.names.assign(counted_columns(r), "");
    out.class_names.assign(r.fields.begin()
                               + std::min<std::ptrdiff_t>(2, std::ssize(r.fields)),
                           r.fields.end());
    out.rows = rows;
  } else if (guess.is == first_line::names) {
    out.header = "names";
    out.names.assign(r.fields.begin(), r.fields.end());
    out.repeated = number_equal_names(out.names);
    out.rows = rows;
    if (more = rows.next(r); !more || !*more)
      return more ? wrong("no rows follow the names of the columns")
                  : wrong(more.error().message);
  }
  return out;
}

} // namespace clade
