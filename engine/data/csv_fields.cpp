// number   := [sign] digits groups? [decimal digits?] [exponent]
// groups   := (mark 3 digits)+        after 1 to 3 digits; the mark is the other one

#include "engine/data/csv_fields.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace clade {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string_view without_sign(std::string_view field) {
  if (field.starts_with('+') || field.starts_with('-'))
    field.remove_prefix(1);
  return field;
}

std::size_t digits_of(std::string_view text) {
  std::size_t n = 0;
  while (n < text.size() && is_digit(text[n]))
    ++n;
  return n;
}

/// How much of `text` is digits in groups of three behind `mark`: "1,234,567"; 0: there
/// are no such groups.
std::size_t grouped_digits(std::string_view text, char mark) {
  std::size_t at = digits_of(text);
  if (at == 0 || at > 3)
    return 0;
  std::size_t groups = 0;
  while (at < text.size() && text[at] == mark) {
    if (digits_of(text.substr(at + 1)) != 3)
      return 0;
    at += 4;
    ++groups;
  }
  return groups == 0 ? 0 : at;
}

constexpr std::string_view not_finite = "is not a finite number";
constexpr std::string_view too_large = "is beyond what 32-bit numbers hold (3.4e38)";

} // namespace

double beyond_doubles(std::string_view number) {
  const auto digits = without_sign(number);
  const auto exponent = digits.find_first_of("eE");
  const bool small = digits.starts_with('.') || digits.starts_with("0")
                     || (exponent != std::string_view::npos
                         && digits.substr(exponent + 1).starts_with('-'));
  return small ? 0 : std::numeric_limits<double>::infinity();
}

std::string_view why_no_float(std::string_view number) {
  return std::ranges::any_of(number, is_digit) ? too_large : not_finite;
}

std::string_view why_no_float(double number) {
  return std::isfinite(number) ? too_large : not_finite;
}

std::optional<double> field_number(std::string_view field, char decimal) {
  const char group = decimal == '.' ? ',' : '.';
  if (field.find(',') == std::string_view::npos
      && (decimal == '.' || field.find('.') == std::string_view::npos))
    return field_number(field);
  std::string plain;
  std::string_view rest = without_sign(field);
  if (rest.size() < field.size() && field.front() == '-')
    plain = "-";
  if (const auto grouped = grouped_digits(rest, group); grouped > 0) {
    for (const char c : rest.substr(0, grouped))
      if (c != group)
        plain += c;
    rest.remove_prefix(grouped);
  }
  for (const char c : rest) {
    if (c == group)
      return std::nullopt;
    plain += c == decimal ? '.' : c;
  }
  return field_number(plain);
}

decimal_evidence decimal_of(std::string_view field) {
  const auto text = without_sign(field);
  const auto mark = text.find_first_of(".,");
  if (mark == std::string_view::npos)
    return decimal_evidence::none;
  const bool as_point = field_number(field, '.').has_value();
  const bool as_comma = field_number(field, ',').has_value();
  if (as_point && as_comma)
    return decimal_evidence::unclear;
  if (as_point)
    return decimal_evidence::point;
  return as_comma ? decimal_evidence::comma : decimal_evidence::none;
}

} // namespace clade
