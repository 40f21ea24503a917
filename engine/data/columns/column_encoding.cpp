#include "engine/data/columns/column_encoding.hpp"

#include "engine/data/bytes/csv_fields.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

namespace clade {
namespace {

constexpr double blank = std::numeric_limits<double>::quiet_NaN();
constexpr double seconds_of_a_day = 86'400;
constexpr std::array periods{365.2425, 7.0, 1.0};

constexpr std::array<std::pair<std::string_view, encoding_kind>, 6> kinds{
    {{"number", encoding_kind::number},
     {"category", encoding_kind::category},
     {"yes_no", encoding_kind::yes_no},
     {"date", encoding_kind::date},
     {"ignore", encoding_kind::ignore},
     {"text", encoding_kind::text}}};

std::size_t periods_of(const column_encoding& column) {
  return column.time_of_day ? periods.size() : periods.size() - 1;
}

/// How many inputs hold the value, without the one that says that there is none.
std::size_t value_inputs(const column_encoding& column) {
  switch (column.kind) {
  case encoding_kind::number:
  case encoding_kind::yes_no:
    return 1;
  case encoding_kind::category:
    return column.values.size();
  case encoding_kind::text:
    return column.scores.count() + column.values.size();
  case encoding_kind::date:
    return 1 + 2 * periods_of(column);
  case encoding_kind::ignore:
    return 0;
  }
  return 0;
}

void append_blank(const column_encoding& column, exact_numbers& out) {
  const bool zeros = column.kind == encoding_kind::category && column.blank_input;
  for (std::size_t i = 0; i < value_inputs(column); ++i)
    out.push_back(zeros ? 0 : blank);
}

bool append_category(const column_encoding& column, std::string_view field,
                     exact_numbers& out) {
  const auto at = std::lower_bound(column.values.begin(), column.values.end(), field);
  if (at == column.values.end() || *at != field)
    return false;
  for (auto value = column.values.begin(); value != column.values.end(); ++value)
    out.push_back(value == at ? 1 : 0);
  return true;
}

bool append_yes_no(std::string_view field, exact_numbers& out) {
  const auto yes = field_yes_no(field);
  if (yes)
    out.push_back(*yes ? 1 : 0);
  return yes.has_value();
}

bool append_date(const column_encoding& column, std::string_view field,
                 exact_numbers& out) {
  const auto seconds = field_date(field, column.order);
  if (!seconds)
    return false;
  const double days = *seconds / seconds_of_a_day;
  out.push_back(days);
  for (std::size_t p = 0; p < periods_of(column); ++p) {
    const double phase = 2 * std::numbers::pi * std::fmod(days, periods[p]) / periods[p];
    out.push_back(std::sin(phase));
    out.push_back(std::cos(phase));
  }
  return true;
}

bool append_value(const column_encoding& column, std::string_view field,
                  exact_numbers& out) {
  switch (column.kind) {
  case encoding_kind::category:
    return append_category(column, field, out);
  case encoding_kind::yes_no:
    return append_yes_no(field, out);
  case encoding_kind::date:
    return append_date(column, field, out);
  default:
    return false;
  }
}

} // namespace

std::string_view to_text(encoding_kind kind) {
  for (const auto& [text, known] : kinds)
    if (known == kind)
      return text;
  return "";
}

std::optional<encoding_kind> parse_encoding_kind(std::string_view text) {
  for (const auto& [known, kind] : kinds)
    if (known == text)
      return kind;
  return std::nullopt;
}

std::size_t column_encoding::inputs() const {
  return value_inputs(*this) + (blank_input ? 1 : 0);
}

std::optional<bool> field_yes_no(std::string_view field) {
  if (field.size() > 5)
    return std::nullopt;
  std::string low(field);
  std::ranges::transform(low, low.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  if (std::ranges::find(yes_spellings, low) != yes_spellings.end())
    return true;
  if (std::ranges::find(no_spellings, low) != no_spellings.end())
    return false;
  return std::nullopt;
}

void encode_number(const column_encoding& column, double value, exact_numbers& out) {
  out.push_back(value);
  if (column.blank_input)
    out.push_back(std::isnan(value) ? 1 : 0);
}

text_encoder::text_encoder(const column_encoding& column)
    : column_(&column),
      terms_(column.values, column.weights),
      scored_(column.scores.terms, column.scores.weights) {}

text_meaning text_encoder::encode(std::string_view field, exact_numbers& out,
                                  std::span<const double> scores) const {
  const bool blank = field_blank_number(field);
  const auto weighed = [&](const term_weigher& by) {
    return blank ? std::vector<term_weight>() : by.weigh(field);
  };
  std::vector<double> given(scores.begin(), scores.end());
  if (given.empty() && column_->scores.count() > 0)
    column_->scores.fit.append(weighed(scored_), given);
  for (const double score : given)
    out.push_back(double{static_cast<float>(score)}); // Terms stay in 32 bits, too.
  std::size_t next = 0;
  const auto zeros_before = [&](std::size_t term) {
    for (; next < term; ++next)
      out.push_back(0);
  };
  for (const auto& [term, weight] : weighed(terms_)) {
    zeros_before(term);
    out.push_back(double{weight});
    ++next;
  }
  zeros_before(column_->values.size());
  if (column_->blank_input)
    out.push_back(blank ? 1 : 0);
  return blank ? text_meaning::blank : text_meaning::value;
}

text_meaning encode_text(const column_encoding& column, std::string_view field,
                         exact_numbers& out) {
  if (column.kind == encoding_kind::text)
    return text_encoder(column).encode(field, out);
  auto meaning = text_meaning::value;
  // A value of the training data may be spelled as a blank is ("none").
  if (!append_value(column, field, out)) {
    append_blank(column, out);
    meaning = field_blank(field) ? text_meaning::blank : text_meaning::unknown;
  }
  if (column.blank_input)
    out.push_back(meaning == text_meaning::value ? 0 : 1);
  return meaning;
}

void append_unscaled(const column_encoding& column, std::vector<bool>& out) {
  const bool one =
      column.kind == encoding_kind::number || column.kind == encoding_kind::date;
  const std::size_t scaled = one ? 1 : column.scores.count();
  for (std::size_t i = 0; i < column.inputs(); ++i)
    out.push_back(i >= scaled);
}

std::vector<input_column> input_columns_of(const std::vector<column_encoding>& columns) {
  std::vector<input_column> out;
  for (const column_encoding& c : columns)
    out.push_back({.name = c.name, .inputs = c.inputs()});
  return out;
}

std::vector<input_column> named_columns(std::vector<input_column> columns,
                                        std::size_t inputs) {
  if (columns.empty())
    columns.assign(inputs, {.inputs = 1});
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (columns[i].name.empty())
      columns[i].name = std::to_string(i + 1);
  return columns;
}

std::vector<bool> numbers_of(const std::vector<column_encoding>& columns) {
  std::vector<bool> numbers;
  for (const column_encoding& c : columns)
    append_unscaled(c, numbers);
  numbers.flip();
  if (std::ranges::find(numbers, false) == numbers.end())
    numbers.clear();
  return numbers;
}

} // namespace clade
