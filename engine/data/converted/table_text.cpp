#include "engine/data/converted/table_text.hpp"

#include "genome/base/whole_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>

namespace clade {
namespace {

constexpr std::string_view replaced("\n\r\0", 3), blanks(" \t\n\r\0", 5);

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

} // namespace

void table_text::begin() {
  if (fields_++ > 0)
    text_ += ',';
}

expected<void> table_text::names(std::span<const std::string> names) {
  for (std::size_t i = 0; i < names.size(); ++i)
    field(names[i].empty() ? fmt::format("column {}", i + 1) : names[i]);
  return end_row();
}

void table_text::field(std::string_view text) {
  begin();
  if (text.find_first_not_of(blanks) == std::string_view::npos)
    return;
  // Readers pass over a byte-order mark, if the whole text begins with one.
  const bool marked = text_.empty() && text.starts_with("\xEF\xBB\xBF");
  const bool quoted = marked || text.find_first_of(",\"") != std::string_view::npos;
  if (quoted)
    text_ += '"';
  for (const char c : text) {
    if (c == '"')
      text_ += '"';
    text_ += replaced.find(c) == std::string_view::npos ? c : ' ';
  }
  if (quoted)
    text_ += '"';
}

void table_text::field(double number) {
  if (std::isnan(number))
    return blank();
  std::array<char, 32> digits;
  const auto end =
      std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  field(std::string_view(digits.data(), end));
}

void table_text::field(std::int64_t number) {
  field(std::string_view(std::to_string(number)));
}

expected<void> table_text::end_row() {
  // A line without a field would be no row.
  if (fields_ <= 1 && (text_.empty() || text_.back() == '\n'))
    text_ += "\"\"";
  fields_ = 0;
  text_ += '\n';
  if (text_.size() > most_bytes_)
    return fail(error_kind::invalid_input,
                fmt::format("is a table of more than {} as text; leave out rows or "
                            "columns",
                            binary_size(most_bytes_)));
  return {};
}

expected<void> table_text::empty_line() {
  text_ += '\n';
  fields_ = 0;
  return {};
}

text_columns::seen& text_columns::at(std::size_t column) {
  if (columns_.size() <= column)
    columns_.resize(column + 1);
  return columns_[column];
}

void text_columns::add_text(std::size_t column, std::string_view text) {
  if (text.size() > 1 && text.front() == '0' && std::ranges::all_of(text, is_digit))
    at(column).coded = true;
}

void text_columns::add_other(std::size_t column) {
  at(column).other = true;
}

std::vector<bool> text_columns::of(std::size_t columns) const {
  std::vector<bool> out(columns);
  for (std::size_t i = 0; i < std::min(columns, columns_.size()); ++i)
    out[i] = columns_[i].coded && !columns_[i].other;
  return out;
}

std::string date_text(std::int64_t seconds, std::uint32_t nanoseconds, bool with_time) {
  using namespace std::chrono;
  constexpr std::int64_t day = 86400, most_days = 2932896, least_days = -719528;
  auto days_since = seconds / day, rest = seconds % day;
  if (rest < 0) {
    rest += day;
    --days_since;
  }
  if (days_since < least_days || days_since > most_days)
    return "";
  const year_month_day date{sys_days{days{days_since}}};
  auto text =
      fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  if (!with_time)
    return text;
  text += fmt::format(" {:02}:{:02}:{:02}", rest / 3600, rest / 60 % 60, rest % 60);
  if (nanoseconds > 0) {
    text += fmt::format(".{:09}", nanoseconds);
    text.resize(text.find_last_not_of('0') + 1);
  }
  return text;
}

} // namespace clade
