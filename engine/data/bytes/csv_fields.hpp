#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace clade {

/// Returns what a number that no double can hold comes to: 0 where it is too small,
/// else infinity.
[[nodiscard]] double beyond_doubles(std::string_view number);

/// Whether a number is finite in 32 bits, too, as features and targets must be.
[[nodiscard]] bool is_finite_float(double number);

/// Says why `number`, which is no finite float, is none: "is not a finite number" of
/// "inf", and of 1e39 that it is too large.
[[nodiscard]] std::string_view why_no_float(std::string_view number);

/// The same of a number that was read already.
[[nodiscard]] std::string_view why_no_float(double number);

/// A number as programs write it; nothing else may follow. NaN and infinities are numbers
/// here, so that they can be refused by name. number_form.hpp reads all other ways.
[[nodiscard]] inline std::optional<double> field_number(std::string_view field) {
  if (field.starts_with('+'))
    field.remove_prefix(1);
  double v = 0;
  const auto [end, status] =
      std::from_chars(field.data(), field.data() + field.size(), v);
  if (end != field.data() + field.size() || field.empty())
    return std::nullopt;
  if (status == std::errc::result_out_of_range)
    return beyond_doubles(field);
  if (status != std::errc{})
    return std::nullopt;
  return v;
}

[[nodiscard]] inline bool equal_in_any_case(std::string_view a, std::string_view b) {
  const auto low = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return low(x) == low(y); });
}

/// The usual spellings of a missing value beside the empty one, in small letters; any
/// case is meant.
inline constexpr std::array<std::string_view, 8> blank_spellings{
    "?", "na", "n/a", "nan", "null", "nil", "-", "#n/a"};
/// One more spelling among numbers or dates, where it is no word of its own.
inline constexpr std::string_view blank_number_spelling = "none";

/// Whether a field is one of the usual spellings of a missing value.
[[nodiscard]] inline bool field_blank(std::string_view field) {
  return field.empty()
         || (field.size() <= 4
             && std::ranges::any_of(blank_spellings, [&](std::string_view s) {
                  return equal_in_any_case(field, s);
                }));
}

/// The same of a field among numbers or dates.
[[nodiscard]] inline bool field_blank_number(std::string_view field) {
  return field_blank(field) || equal_in_any_case(field, blank_number_spelling);
}

/// The same as experiments had it before there was blanks = "impute".
[[nodiscard]] inline bool field_blank_of_first_runs(std::string_view field) {
  return field.empty() || field == "?" || field == "NA";
}

} // namespace clade
