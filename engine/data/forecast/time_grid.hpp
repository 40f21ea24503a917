#pragma once

#include "genome/base/error.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace clade {

/// The steps at which series have values: whole numbers, the positions, stand for times
/// that are evenly spaced.
struct time_grid {
  enum class unit : std::uint8_t {
    number,       ///< Times are numbers, `step` apart.
    second,       ///< Times are dates, so many seconds apart.
    business_day, ///< Days, of which Saturdays and Sundays are left out.
    month,        ///< The same day of the month, or the last, so many months apart.
  };

  unit of = unit::number;
  double start = 0; ///< The time of position 0; seconds since 1970 for dates.
  double step = 1;
  bool last_day = false;    ///< Months: the last day of each.
  bool time_of_day = false; ///< Dates are written with the time of day.

  /// The position of a time; nothing where it lies between two.
  [[nodiscard]] std::optional<std::int64_t> position(double time) const;
  /// The time of a position, as numbers and ISO dates are written.
  [[nodiscard]] std::string text(std::int64_t position) const;
  [[nodiscard]] bool dates() const { return of != unit::number; }

  /// The parts of a position's date, of which each step may have another.
  struct calendar {
    unsigned month = 0; ///< From 1; 0: there is no date.
    std::optional<unsigned>
        weekday{};                  ///< From 0, Sunday; only of steps of days and less.
    std::optional<unsigned> hour{}; ///< Only of steps of hours and less.
  };
  [[nodiscard]] calendar parts(std::int64_t position) const;

  /// The steps after which values are likely to be alike: 24 of hours, 7 of days, 5 of
  /// business days, 12 of months, 4 of quarters; else 1.
  [[nodiscard]] std::int64_t usual_season() const;
  /// "1 hour".
  [[nodiscard]] std::string step_length() const;
  /// "a step is 1 hour".
  [[nodiscard]] std::string step_text() const;
};

/// Finds the grid of all series' times, which are in rising order in each. The step is the
/// commonest distance between neighbours, the shorter of equals.
[[nodiscard]] time_grid find_grid(std::span<const std::vector<double>> times, bool dates,
                                  bool time_of_day);

} // namespace clade
