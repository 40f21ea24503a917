// date   := y sep n sep n [time]            year_month_day
//         | n sep n sep y [time]            the others
// sep    := '-' | '/' | '.'                 twice the same
// y      := 4 digits | 2 digits             two only after '/': 00 to 68 is 2000 to 2068,
//                                           69 to 99 is 1969 to 1999, as in POSIX
// n      := 1 or 2 digits
// time   := ('T' | ' '+) n ':' 2 digits [':' 2 digits ['.' digits]] [zone]
// zone   := 'Z' | ('+' | '-') 2 digits [':'] 2 digits

#include "engine/data/field_date.hpp"

#include <chrono>
#include <cstddef>

namespace clade {
namespace {

constexpr double minute = 60, hour = 60 * minute, day = 24 * hour;

/// Takes text from the front of `rest`.
struct scanner {
  std::string_view rest;

  bool take(char c) {
    if (!rest.starts_with(c))
      return false;
    rest.remove_prefix(1);
    return true;
  }

  /// The number that the next digits make, if there are `least` to `most` of them.
  std::optional<int> digits(std::size_t least, std::size_t most) {
    std::size_t n = 0;
    int value = 0;
    for (; n < rest.size() && n < most && rest[n] >= '0' && rest[n] <= '9'; ++n)
      value = value * 10 + (rest[n] - '0');
    if (n < least)
      return std::nullopt;
    rest.remove_prefix(n);
    return value;
  }
};

struct calendar_day {
  int year = 0, month = 0, day = 0;
};

std::optional<int> read_year(scanner& s, char separator) {
  if (auto year = s.digits(4, 4))
    return year;
  const auto year = separator == '/' ? s.digits(2, 2) : std::nullopt;
  if (!year)
    return std::nullopt;
  return *year + (*year < 69 ? 2000 : 1900);
}

std::optional<calendar_day> read_day(scanner& s, date_order order) {
  const bool year_first = order == date_order::year_month_day;
  const auto first = year_first ? s.digits(4, 4) : s.digits(1, 2);
  if (!first || s.rest.empty())
    return std::nullopt;
  const char separator = s.rest.front();
  if (separator != '-' && separator != '/' && separator != '.')
    return std::nullopt;
  s.take(separator);
  const auto second = s.digits(1, 2);
  if (!second || !s.take(separator))
    return std::nullopt;
  const auto third = year_first ? s.digits(1, 2) : read_year(s, separator);
  if (!third)
    return std::nullopt;
  if (year_first)
    return calendar_day{*first, *second, *third};
  if (order == date_order::day_month_year)
    return calendar_day{*third, *second, *first};
  return calendar_day{*third, *first, *second};
}

/// Seconds that the zone is ahead of UTC.
std::optional<double> read_zone(scanner& s) {
  if (s.rest.empty() || s.take('Z'))
    return 0;
  const bool behind = s.rest.front() == '-';
  if (!s.take('+') && !s.take('-'))
    return std::nullopt;
  const auto hours = s.digits(2, 2);
  s.take(':');
  const auto minutes = s.digits(2, 2);
  if (!hours || !minutes || *hours > 14 || *minutes > 59)
    return std::nullopt;
  return (behind ? -1 : 1) * (*hours * hour + *minutes * minute);
}

/// Seconds since midnight; there need be no time.
std::optional<double> read_time(scanner& s) {
  if (s.rest.empty())
    return 0;
  if (!s.take('T')) {
    if (!s.take(' '))
      return std::nullopt;
    while (s.take(' '))
      ;
  }
  const auto hours = s.digits(1, 2);
  if (!hours || !s.take(':'))
    return std::nullopt;
  const auto minutes = s.digits(2, 2);
  if (!minutes || *hours > 23 || *minutes > 59)
    return std::nullopt;
  double seconds = *hours * hour + *minutes * minute;
  if (s.take(':')) {
    const auto whole = s.digits(2, 2);
    if (!whole || *whole > 60)
      return std::nullopt;
    seconds += *whole;
    if (s.take('.')) {
      double unit = 0.1;
      auto digit = s.digits(1, 1);
      if (!digit)
        return std::nullopt;
      for (; digit; digit = s.digits(1, 1), unit /= 10)
        seconds += *digit * unit;
    }
  }
  const auto zone = read_zone(s);
  return zone ? std::optional(seconds - *zone) : std::nullopt;
}

} // namespace

std::optional<double> field_date(std::string_view field, date_order order) {
  scanner s{field};
  const auto read = read_day(s, order);
  if (!read)
    return std::nullopt;
  const std::chrono::year_month_day date{
      std::chrono::year(read->year),
      std::chrono::month(static_cast<unsigned>(read->month)),
      std::chrono::day(static_cast<unsigned>(read->day))};
  const auto seconds = read_time(s);
  if (!date.ok() || !seconds || !s.rest.empty())
    return std::nullopt;
  const auto days = std::chrono::sys_days(date).time_since_epoch().count();
  return static_cast<double>(days) * day + *seconds;
}

} // namespace clade
