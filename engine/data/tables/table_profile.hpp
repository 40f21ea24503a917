#pragma once

#include "engine/data/columns/csv_form.hpp"
#include "engine/data/numbers/field_date.hpp"
#include "engine/data/texts/value_sample.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace clade {

/// The kind of the values of a column. Blanks (`field_blank_number`) say nothing about
/// it. The rules, in this order; n is the number of values that are no blanks:
///   * constant: no value, or one value and no blank;
///   * date: every value is a date (`field_date`) in one order of its parts, but for at
///     most one in twenty that names a day that no calendar has (`is_no_day`);
///   * identifier: the numbers 0, 1, 2, ... or 1, 2, 3, ... in the order of the file,
///     without a blank, n at least 10;
///   * identifier: whole numbers, or texts of which 95 percent are codes (no space in
///     them, but a digit or '@'), n at least 10, and 95 percent of the values are
///     different. Numbers only where the column is named like an identifier ("id",
///     "customer_id", "PassengerId", "uuid");
///   * identifier that repeats: a column that is named like one, of whole numbers or
///     codes, of at least 20 different values that occur at most 50 times in the mean;
///   * number: every value is a number, however few different ones there are;
///   * yes_no: every value is yes or no, y or n, true or false, t or f, on or off (one
///     pair, in any case), and both occur;
///   * category: at most 20 different values, or at most half of n and at most 1,000;
///   * text: all else. Texts with two spaces or more in the mean are learnt from.
enum class column_kind : std::uint8_t {
  number,
  category,
  yes_no,
  date,
  text,
  identifier,
  constant
};

[[nodiscard]] std::string_view to_text(column_kind kind);

namespace profile_rules {
inline constexpr std::uint64_t least_identifiers = 10;
inline constexpr double distinct_identifiers = 0.95;
inline constexpr double codes = 0.95;
inline constexpr std::uint64_t least_repeated_identifiers = 20;
inline constexpr double repeated_identifiers = 0.02; ///< 1 / 50
inline constexpr std::uint64_t always_category = 20;
inline constexpr std::uint64_t most_categories = 1000;
} // namespace profile_rules

struct column_profile {
  std::string name; ///< Empty where the file has no names.
  column_kind kind = column_kind::constant;
  std::uint64_t rows = 0;
  std::uint64_t blanks = 0;
  std::uint64_t distinct = 0; ///< Without blanks; see `value_sample::distinct`.
  bool exact = true;          ///< `distinct` is no estimate.
  /// The most frequent values, at most 1,000, each cut off at 64 bytes; among a sample of
  /// the values where `exact` is false.
  std::vector<value_count> frequent;
  std::uint64_t numbers = 0;  ///< Values that are finite numbers.
  std::uint64_t infinite = 0; ///< Values that are infinite: "inf", "-inf".
  bool whole = false;         ///< Every value is a whole number.
  std::string unit{};         ///< The unit of numbers, `number_form::unit`.
  /// Values that are numbers with another unit than `unit` or without one, and one of
  /// these; where there are at most five other units.
  std::uint64_t other_units = 0;
  std::string other_unit{};
  std::uint64_t dates = 0; ///< Values that are dates, in the order that most are.
  std::string not_date{};  ///< The first in order of text that is none; else empty.
  std::string not_number;  ///< The first in order of text that is none; else empty.
  /// The extremes of a number, and of a date in seconds as `field_date` has them.
  std::optional<double> minimum, maximum;
  /// The order of a date. If several orders fit every value, it is year, day, month, if
  /// with dots, else month before day.
  std::optional<date_order> order;
  bool order_unclear = false; ///< More than one order fits.
  /// For numbers and dates: no value is below (above) that of the row before.
  bool rising = false, falling = false;
  /// The value that is farthest from the median, if a number needs a robust scale; if there
  /// are many rows, a sample of them shows it.
  std::optional<double> outlier{};
  bool index = false;   ///< An identifier by the first of its rules above.
  bool repeats = false; ///< An identifier by the last of its rules.
  bool spaced = false;  ///< The values have two spaces or more in the mean.
  /// For a text: how many letters (bytes) it has in the mean, and at most.
  double mean_length = 0;
  std::uint64_t longest = 0;

  [[nodiscard]] std::uint64_t values() const { return rows - blanks; }
};

/// Why a column should not be given to a network.
enum class ignore_reason : std::uint8_t {
  none,
  blank,           ///< It has no value at all.
  constant,        ///< Every row has the same.
  index,           ///< It numbers the rows.
  identifier,      ///< Almost every row has a value of its own.
  groups,          ///< It names what several rows belong to: good to split by.
  too_many_values, ///< Too many different texts for categories.
  not_of_series,   ///< It holds no numbers, as series do.
};

/// The best use of a column among the features.
struct column_use {
  column_kind as = column_kind::number; ///< The kind, if used.
  ignore_reason ignored = ignore_reason::none;

  friend bool operator==(const column_use&, const column_use&) = default;
};

[[nodiscard]] column_use use_of(const column_profile& column);

/// "id", "customer_id", "PassengerId", "userID", "uuid", "index", "Unnamed: 0".
[[nodiscard]] bool named_like_identifier(std::string_view name);

struct table_profile {
  std::vector<column_profile> columns;
  std::uint64_t rows = 0;
  std::uint64_t repeated_rows = 0; ///< Rows that are equal to an earlier one.
};

/// Looks at one column, value by value, in memory that does not grow with them.
class column_profiler {
public:
  /// `number` says how its numbers are written, where it has any; `text`, that it has
  /// none, however its values look.
  explicit column_profiler(std::string name, number_form number = {}, bool text = false)
      : name_(std::move(name)),
        number_(std::move(number)),
        text_(text) {}

  void add(std::string_view field);
  [[nodiscard]] column_profile finish() const;

private:
  /// The least and largest value in one reading of a column, and whether they are in
  /// order.
  struct range {
    double minimum = 0, maximum = 0, last = 0;
    bool any = false, rising = true, falling = true;

    void add(double v);
    void write(column_profile& out) const;
  };
  static constexpr std::size_t orders = 3, most_sampled = 4096;

  void sample(double number);
  void write_outlier(column_profile& p) const;
  void add_number(std::string_view field);
  void add_text(std::string_view field);
  [[nodiscard]] column_kind kind_of(column_profile& p) const;
  [[nodiscard]] bool is_identifier(column_profile& p) const;
  void write_dates(column_profile& p) const;

  std::string name_;
  number_form number_;
  bool text_;
  value_sample values_;
  std::uint64_t rows_ = 0, blanks_ = 0, numbers_ = 0, whole_ = 0, codes_ = 0, spaces_ = 0;
  std::uint64_t bytes_ = 0, longest_ = 0;
  std::uint64_t infinite_ = 0;
  std::array<bool, 2> counts_from_{true, true}; ///< From 0, from 1.
  std::string not_number_;
  range number_range_;
  /// Every so many numbers, so that they are at most `most_sampled`.
  std::vector<double> sampled_;
  std::uint64_t sampled_every_ = 1;
  /// The state of reading the values as dates in one order.
  struct date_reading {
    range days;
    std::uint64_t dates = 0, others = 0, no_days = 0;
    bool given_up = false; ///< Too many are none.
    std::string other{};   ///< The first in order of text that is none.
  };

  void add_date(std::string_view field, date_reading& in, date_order order);
  [[nodiscard]] bool fits(date_order order) const;
  [[nodiscard]] std::optional<date_order> order_of_dates() const;

  std::array<date_reading, orders> dates_;
  std::uint64_t other_units_ = 0;
  std::string other_unit_;
  std::set<std::string, std::less<>> units_;
  bool dotted_ = false;
  unsigned pairs_ = ~0U; ///< Pairs of yes and no that fit every value, as bits.
  bool yes_ = false, no_ = false;
};

/// Looks at a table, row by row. The order of the rows decides over the index rule,
/// `rising` and `falling` alone.
class table_profiler {
public:
  explicit table_profiler(const std::vector<std::string>& names,
                          const csv_form& form = {});

  /// `fields` are as many as there are names.
  void add(std::span<const std::string_view> fields);
  [[nodiscard]] table_profile finish() const;

private:
  static constexpr std::size_t compared_rows = 1 << 20;

  std::vector<column_profiler> columns_;
  /// Hashes of the first `compared_rows` different rows; later ones are only compared to
  /// these.
  std::unordered_set<std::uint64_t> seen_;
  std::uint64_t rows_ = 0, repeated_ = 0;
};

/// Profiles the rows that are left in `rows`, whose columns have these names (empty ones
/// where there are none). A row with another number of fields is an error that begins
/// with `origin` and the line, as is a quote that is not closed.
[[nodiscard]] expected<table_profile> profile_rows(csv_rows rows, std::string_view origin,
                                                   const std::vector<std::string>& names,
                                                   const csv_form& form = {});

} // namespace clade
