#pragma once

#include "engine/data/bytes/text_terms.hpp"
#include "engine/data/columns/linear_scores.hpp"
#include "engine/data/numbers/exact_numbers.hpp"
#include "engine/data/numbers/field_date.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// The way in which a network gets a column of a table. The inputs of a column stand side
/// by side, in the order of the columns:
///   * number: the value, one input;
///   * category: an input for each value of the training data, 1 for the value that is
///     there, else 0. A value that the training data does not have is a blank;
///   * yes_no: 1 or 0, one input (`field_yes_no`). Another text is a blank;
///   * date: days since 1970, then the sine and the cosine of 2 pi t / P, for t these
///     days and P a year of 365.2425 days, a week, and, if `time_of_day`, a day: five or
///     seven inputs (the seasons of Prophet: Taylor and Letham, 2018, of order 1);
///   * ignore: no input;
///   * text: the scores that a linear model gives it (`text_scores`), if there are any,
///     and an input for each term of its vocabulary, the term's weight in the text
///     (text_terms.hpp), 0 where it is not there. A blank has no term.
/// A blank is NaN in all of them, but for a text; what is put there, `preprocessing::blanks`
/// says. With a `blank_input` there is one more input behind them, which is 1 for a blank,
/// else 0; a category's other inputs are then 0 for a blank.
enum class encoding_kind : std::uint8_t { number, category, yes_no, date, ignore, text };

[[nodiscard]] std::string_view to_text(encoding_kind kind);
[[nodiscard]] std::optional<encoding_kind> parse_encoding_kind(std::string_view text);

/// The linear model of a column of texts (text_scores.hpp) over terms of its own.
struct text_scores {
  std::vector<std::string> terms{}; ///< In sorted order, each once.
  std::vector<double> weights{};    ///< By term.
  linear_scores fit{};

  [[nodiscard]] std::size_t count() const { return fit.intercepts.size(); }

  friend bool operator==(const text_scores&, const text_scores&) = default;
};

/// How a column of a file becomes inputs of a network.
struct column_encoding {
  std::string name; ///< Empty where the file has no names.
  encoding_kind kind = encoding_kind::number;
  /// The values of a category, or the terms of texts, in sorted order, each once.
  std::vector<std::string> values{};
  bool blank_input = false;
  date_order order = date_order::year_month_day; ///< The order of dates.
  bool time_of_day = false;                      ///< Whether dates have a time of day.
  /// The unit of numbers, `number_form::unit`.
  std::string unit{};
  std::vector<double> weights{}; ///< By term of texts.
  text_scores scores{};          ///< The scores of texts.

  /// How many inputs it makes.
  [[nodiscard]] std::size_t inputs() const;

  friend bool operator==(const column_encoding&, const column_encoding&) = default;
};

/// The words that say yes or no, in small letters; any case is meant.
inline constexpr std::array<std::string_view, 6> yes_spellings{"true", "yes", "y",
                                                               "t",    "on",  "1"};
inline constexpr std::array<std::string_view, 6> no_spellings{"false", "no",  "n",
                                                              "f",     "off", "0"};

/// Reads such a word; nothing where `field` is none.
[[nodiscard]] std::optional<bool> field_yes_no(std::string_view field);

/// Appends the inputs of a number; NaN is a blank.
void encode_number(const column_encoding& column, double value, exact_numbers& out);

/// The meaning that a text was taken for.
enum class text_meaning : std::uint8_t {
  value,   ///< It is one of the column's kind.
  blank,   ///< It is a blank.
  unknown, ///< It is neither, and was taken for a blank.
};

/// Appends the inputs of a text in a column that is no number and not ignored.
text_meaning encode_text(const column_encoding& column, std::string_view field,
                         exact_numbers& out);

/// Makes fields of a column of texts its inputs. The column outlives it.
class text_encoder {
public:
  explicit text_encoder(const column_encoding& column);

  /// Appends the inputs of a field; `scores` stand in the place of those that the column's
  /// model gives it, if there are any.
  text_meaning encode(std::string_view field, exact_numbers& out,
                      std::span<const double> scores = {}) const;

private:
  const column_encoding* column_;
  term_weigher terms_, scored_;
};

/// Appends for each input of the column whether it stays as it is when others are
/// standardised: all but the value of a number, the days of a date and the scores of texts.
void append_unscaled(const column_encoding& column, std::vector<bool>& out);

/// A column of a table and how many inputs it makes, which stand side by side.
struct input_column {
  std::string name; ///< Empty where the file has no names.
  std::size_t inputs = 0;

  friend bool operator==(const input_column&, const input_column&) = default;
};

/// Returns the columns in their order, the ignored ones too, which make no input.
[[nodiscard]] std::vector<input_column>
input_columns_of(const std::vector<column_encoding>& columns);

/// Returns the columns by names: one without is called by its number from 1. If there are
/// none, each of so many inputs is one.
[[nodiscard]] std::vector<input_column> named_columns(std::vector<input_column> columns,
                                                      std::size_t inputs);

/// By input, whether it is a number, that is, whether it is scaled; empty where all are.
[[nodiscard]] std::vector<bool> numbers_of(const std::vector<column_encoding>& columns);

} // namespace clade
