// The first line is the names of the columns where
//   * a text stands over a column of numbers, all rows being as long as the line; or
//   * it has whole numbers, all different, each further from the numbers below it than
//     these are from each other; or at least three that rise by the same step, such as
//     years, and a text, none of which comes again below; or
//   * it has no number, and texts that are all different and do not come again.
// Else it is a row. It is unclear where its numbers decided, or where it is a row with a
// text that its column, which repeats its texts, does not have again.

#include "engine/data/columns/first_line.hpp"

#include "engine/data/bytes/csv_fields.hpp"
#include "genome/base/text.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace clade {
namespace {

constexpr std::size_t looked_at = 200;

/// The evidence that one column gives of the first line.
struct column_evidence {
  std::optional<double> first; ///< Its number.
  bool whole_first = false, blank_first = false;
  bool numbers = true; ///< All others are.
  bool comes_again = false;
  std::size_t values = 0; ///< Others that are not blank.
  double least = 0, most = 0;
  std::set<std::string, std::less<>> texts{};

  [[nodiscard]] bool text_first() const { return !first && !blank_first; }

  void add(std::string_view field, std::string_view in_first, const number_form& form) {
    if (field_blank_number(field))
      return;
    ++values;
    comes_again = comes_again || field == in_first;
    if (text_first())
      texts.emplace(field);
    const auto n = field_number(field, form);
    numbers = numbers && n && std::isfinite(*n);
    if (numbers) {
      least = values == 1 ? *n : std::min(least, *n);
      most = values == 1 ? *n : std::max(most, *n);
    }
  }
  /// Whether the first is far from all others.
  [[nodiscard]] bool apart() const {
    constexpr std::size_t enough = 3;
    return values >= enough && numbers
           && std::max(*first - most, least - *first) > most - least;
  }
};

struct evidence {
  std::vector<column_evidence> columns;
  bool even = true; ///< All rows are as long as the first line.

  [[nodiscard]] bool any(auto holds) const { return std::ranges::any_of(columns, holds); }
};

evidence look(std::span<const std::string_view> first, csv_rows following,
              const csv_form& form) {
  evidence out;
  out.columns.resize(first.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    auto& c = out.columns[i];
    c.whole_first = parse_number<std::uint64_t>(first[i]).has_value();
    c.blank_first = field_blank_number(first[i]);
    if (const auto n = read_number(first[i], form.decimal))
      c.first = n->value;
  }
  csv_row r;
  auto more = following.next(r);
  for (std::size_t row = 0; more && *more && row < looked_at; ++row) {
    out.even = out.even && r.fields.size() == first.size();
    for (std::size_t i = 0; i < std::min(first.size(), r.fields.size()); ++i)
      out.columns[i].add(r.fields[i], first[i], form.number(i));
    more = following.next(r);
  }
  return out;
}

/// Whether the numbers of the first line are names, such as years.
bool numbers_are_names(const evidence& e) {
  std::vector<double> numbers;
  bool apart = true;
  for (const column_evidence& c : e.columns) {
    if (c.text_first() && c.comes_again)
      return false;
    if (!c.first)
      continue;
    if (!c.whole_first)
      return false;
    numbers.push_back(*c.first);
    apart = apart && c.apart();
  }
  if (std::set(numbers.begin(), numbers.end()).size() < numbers.size())
    return false;
  const bool text = e.any([](const auto& c) { return c.text_first(); });
  bool steps = numbers.size() >= 3 && text && numbers[1] > numbers[0];
  for (std::size_t i = 2; i < numbers.size(); ++i)
    steps = steps && numbers[i] - numbers[i - 1] == numbers[1] - numbers[0];
  return apart || steps;
}

/// Whether all fields are texts that only names of columns would be.
bool texts_are_names(std::span<const std::string_view> first, const evidence& e) {
  return std::set(first.begin(), first.end()).size() == first.size()
         && !e.any([](const auto& c) { return c.blank_first || c.comes_again; });
}

/// Whether the column repeats its texts, but not the first.
bool first_is_odd(const column_evidence& c) {
  return c.text_first() && !c.comes_again && 2 * c.texts.size() < c.values;
}

} // namespace

bool gives_counts(std::span<const std::string_view> first, csv_rows following) {
  const auto rows =
      first.size() < 4 ? std::nullopt : parse_number<std::uint64_t>(first[0]);
  const auto features = rows ? parse_number<std::uint64_t>(first[1]) : std::nullopt;
  if (!features || std::any_of(first.begin() + 2, first.end(), [](std::string_view f) {
        return read_number(f, '.').has_value();
      }))
    return false;
  csv_row r;
  std::uint64_t there = 0;
  for (auto more = following.next(r); more && *more && there <= *rows;
       more = following.next(r), ++there)
    if (r.fields.size() != *features + 1)
      return false;
  return there == *rows;
}

first_line_guess guess_first_line(std::span<const std::string_view> first,
                                  const csv_rows& following, const csv_form& form) {
  if (gives_counts(first, following))
    return {first_line::counts};
  const auto e = look(first, following, form);
  if (e.even && e.any([](const column_evidence& c) {
        return c.text_first() && c.values > 0 && c.numbers;
      }))
    return {first_line::names};
  if (e.any([](const column_evidence& c) { return c.first.has_value(); }))
    return numbers_are_names(e) ? first_line_guess{first_line::names, true}
                                : first_line_guess{first_line::row, e.any(first_is_odd)};
  if (texts_are_names(first, e))
    return {first_line::names};
  return {first_line::row, e.any(first_is_odd)};
}

} // namespace clade
