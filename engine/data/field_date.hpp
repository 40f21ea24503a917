#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace clade {

/// The order in which a date names its parts.
enum class date_order : std::uint8_t { year_month_day, day_month_year, month_day_year };

/// Returns the seconds from 1970-01-01 00:00 to the date (and time of day) that `field`
/// holds; nothing if it holds anything else, or a day that no calendar has. A time zone
/// counts where one is given. The grammar is at the top of field_date.cpp.
[[nodiscard]] std::optional<double> field_date(std::string_view field, date_order order);

} // namespace clade
