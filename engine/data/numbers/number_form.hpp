#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace clade {

/// How the numbers of a column are written down. All values of a column have one form;
/// `find_form` finds it out.
struct number_form {
  char decimal = '.'; ///< The mark before the decimals: '.' or ','.
  /// A currency before or behind each number ("$", "EUR"), or a unit behind it ("%",
  /// "kg"); empty: there is none.
  std::string unit{};

  friend bool operator==(const number_form&, const number_form&) = default;
};

/// "a number", or "a number with "kg"".
[[nodiscard]] std::string number_words(const number_form& form);

/// A number as people and programs write it down.
struct written_number {
  double value = 0;
  std::string_view unit; ///< A part of the field; empty: there is none.
};

/// Reads a field that holds a number and nothing else; the grammar is at the top of
/// number_form.cpp. NaN and infinities are numbers here, so that they can be refused by
/// name.
[[nodiscard]] std::optional<written_number> read_number(std::string_view field,
                                                        char decimal);

/// The number of a column that is so written. Another unit than the column's is no
/// number, nor is none, unless the number is 0, which is the same in every unit.
[[nodiscard]] std::optional<double> field_number(std::string_view field,
                                                 const number_form& form);

/// The evidence in the marks of a number on which of them is before the decimals.
enum class decimal_evidence : std::uint8_t {
  none,    ///< No number, or one that is the same either way.
  point,   ///< 3.5, 1,234.5, 0.249
  comma,   ///< 3,5, 1.234,5, 0,249
  unclear, ///< 1,234: of thousands, or of decimals
};

[[nodiscard]] decimal_evidence decimal_of(std::string_view field);

} // namespace clade
