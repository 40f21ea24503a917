#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace clade {

/// The order in which a date names its parts.
enum class date_order : std::uint8_t { year_month_day, day_month_year, month_day_year };

/// "year, month, day".
[[nodiscard]] std::string_view to_text(date_order order);

/// Returns the seconds from 1970-01-01 00:00 to the date (and time of day) that `field`
/// holds; nothing if it holds anything else, or a day that no calendar has. A time zone
/// counts where one is given. The grammar is at the top of field_date.cpp.
[[nodiscard]] std::optional<double> field_date(std::string_view field, date_order order);

/// Whether `field` is written as a date is, but names a day that no calendar has, in
/// whichever order: 2024-02-30, 0000-00-00.
[[nodiscard]] bool is_no_day(std::string_view field);

/// The names of the months, in small letters; any case is meant.
inline constexpr std::array<std::string_view, 12> month_names{
    "january", "february", "march",     "april",   "may",      "june",
    "july",    "august",   "september", "october", "november", "december"};

} // namespace clade
