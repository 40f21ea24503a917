#pragma once

#include "engine/data/numbers/field_date.hpp"

#include <array>
#include <string_view>

namespace clade {

/// Finds out in which order the dates of a column name their parts: the one that fits all
/// of them. If several do, it is year, day, month if there are dots, else month before
/// day.
class date_column {
public:
  enum class fit : std::uint8_t {
    date,
    no_day,      ///< It is written as a date, of a day that is none: a blank.
    no_date,     ///< It is a date in no order.
    other_order, ///< It is one, but in none that fits the dates before.
  };

  fit add(std::string_view field);
  [[nodiscard]] date_order order() const;
  /// Whether a date has a time other than midnight.
  [[nodiscard]] bool time_of_day() const;

private:
  static constexpr std::size_t orders = 3;

  std::array<bool, orders> fits_{true, true, true};
  std::array<bool, orders> timed_{};
  bool dotted_ = false;
};

} // namespace clade
