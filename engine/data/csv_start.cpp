#include "engine/data/csv_start.hpp"

#include "engine/data/csv_fields.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <set>

namespace clade {
namespace {

constexpr std::size_t looked_at = 200;

std::optional<std::uint64_t> whole(std::string_view field) {
  std::uint64_t n = 0;
  const auto [end, status] =
      std::from_chars(field.data(), field.data() + field.size(), n);
  if (status != std::errc{} || end != field.data() + field.size())
    return std::nullopt;
  return n;
}

bool is_number(std::string_view field) {
  return field_number(field).has_value();
}

bool gives_counts(const std::vector<std::string>& first, csv_rows following) {
  const auto rows = first.size() < 4 ? std::nullopt : whole(first[0]);
  const auto features = rows ? whole(first[1]) : std::nullopt;
  if (!features || std::any_of(first.begin() + 2, first.end(), is_number))
    return false;
  csv_row r;
  std::uint64_t there = 0;
  for (auto more = following.next(r); more && *more && there <= *rows;
       more = following.next(r), ++there)
    if (r.fields.size() != *features + 1)
      return false;
  return there == *rows;
}

/// What one column says of the first line.
struct column_evidence {
  bool number_first = false, blank_first = false;
  bool numbers = true; ///< All others are.
  bool any = false;    ///< There are others, not blank.
  bool comes_again = false;
};

std::vector<column_evidence> evidence(const std::vector<std::string>& first,
                                      csv_rows following, char decimal) {
  std::vector<column_evidence> columns(first.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    columns[i].number_first = field_number(first[i], decimal).has_value();
    columns[i].blank_first = field_blank_number(first[i]);
  }
  csv_row r;
  auto more = following.next(r);
  for (std::size_t row = 0; more && *more && row < looked_at; ++row) {
    for (std::size_t i = 0; i < std::min(first.size(), r.fields.size()); ++i)
      if (!field_blank_number(r.fields[i])) {
        columns[i].any = true;
        columns[i].numbers =
            columns[i].numbers && field_number(r.fields[i], decimal).has_value();
        columns[i].comes_again = columns[i].comes_again || r.fields[i] == first[i];
      }
    more = following.next(r);
  }
  return columns;
}

bool gives_names(const std::vector<std::string>& first, const csv_rows& following,
                 char decimal) {
  const auto columns = evidence(first, following, decimal);
  if (std::ranges::any_of(columns, &column_evidence::number_first))
    return false;
  if (std::ranges::any_of(columns, [](const column_evidence& c) {
        return !c.blank_first && c.any && c.numbers;
      }))
    return true;
  const std::set<std::string> different(first.begin(), first.end());
  return different.size() == first.size()
         && std::ranges::none_of(columns, [](const column_evidence& c) {
              return c.blank_first || c.comes_again;
            });
}

} // namespace

expected<csv_start> find_csv_start(csv_rows rows, std::string_view origin, char decimal) {
  csv_row r;
  const csv_rows all = rows;
  auto more = rows.next(r);
  const auto wrong = [&](const std::string& message) {
    return fail_in(std::string(origin) + ":" + std::to_string(r.line),
                   {error_kind::invalid_input, message});
  };
  if (!more)
    return wrong(more.error().message);
  if (!*more)
    return fail_in(origin, {error_kind::invalid_input, "is empty"});
  const std::vector<std::string> first(r.fields.begin(), r.fields.end());
  csv_start out{.header = "none",
                .names = std::vector<std::string>(first.size()),
                .repeated = {},
                .class_names = {},
                .rows = all};
  if (gives_counts(first, rows)) {
    out.header = "counts";
    out.names.assign(static_cast<std::size_t>(*whole(first[1])) + 1, "");
    out.class_names.assign(first.begin() + 2, first.end());
    out.rows = rows;
  } else if (gives_names(first, rows, decimal)) {
    out.header = "names";
    out.names = first;
    out.repeated = number_equal_names(out.names);
    out.rows = rows;
    if (more = rows.next(r); !more || !*more)
      return more ? wrong("no rows follow the names of the columns")
                  : wrong(more.error().message);
  }
  return out;
}

} // namespace clade
