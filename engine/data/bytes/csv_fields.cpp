#include "engine/data/bytes/csv_fields.hpp"

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

bool is_finite_float(double number) {
  return std::abs(number) <= double{std::numeric_limits<float>::max()};
}

std::string_view why_no_float(std::string_view number) {
  return std::ranges::any_of(number, is_digit) ? too_large : not_finite;
}

std::string_view why_no_float(double number) {
  return std::isfinite(number) ? too_large : not_finite;
}

} // namespace clade
