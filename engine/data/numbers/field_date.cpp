// date   := y sep n sep n [time] | y part month part n [time]       year_month_day
//         | n sep n sep y [time] | n part month part y [time]       day_month_year
//         | n sep n sep y [time] | month part n part y [time]       month_day_year
// sep    := '-' | '/' | '.'                 twice the same
// part   := 1 or 2 of ' ', '-', '/', '.', ','
// month  := the name of a month, whole or shortened (month_names)
// y      := 4 digits | 2 digits             two only at the end, after '/', after a month's
//                                           name, or after '.' where both n have two
//                                           digits: 00 to 68 is 2000 to 2068, 69 to 99 is
//                                           1969 to 1999, as in POSIX
// n      := 1 or 2 digits
// time   := ('T' | [','] ' '+) n ':' 2 digits [':' 2 digits ['.' digits]] [half] [zone]
// half   := ' '* ("am" | "pm")              in any case; the hour is then 1 to 12
// zone   := 'Z' | ('+' | '-') 2 digits [':'] 2 digits

#include "engine/data/numbers/field_date.hpp"

#include "engine/data/bytes/csv_fields.hpp"

#include <algorithm>
#include <array>
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

/// Two digits only where they may stand for a year.
std::optional<int> read_year(scanner& s, bool two) {
  if (auto year = s.digits(4, 4))
    return year;
  const auto year = two ? s.digits(2, 2) : std::nullopt;
  if (!year)
    return std::nullopt;
  return *year + (*year < 69 ? 2000 : 1900);
}

/// A letter of ASCII, or a byte of another one in UTF-8.
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
         || static_cast<unsigned char>(c) >= 0x80;
}

std::optional<int> read_month(scanner& s) {
  std::size_t length = 0;
  while (length < s.rest.size() && is_letter(s.rest[length]))
    ++length;
  const auto word = s.rest.substr(0, length);
  if (word.empty())
    return std::nullopt;
  for (std::size_t m = 0; m < month_names.size(); ++m)
    if (std::ranges::any_of(month_names[m], [&](std::string_view name) {
          return equal_in_any_case(word, name);
        })) {
      s.rest.remove_prefix(length);
      return static_cast<int>(m) + 1;
    }
  return std::nullopt;
}

/// Passes over what parts a month's name from its neighbours.
bool take_part(scanner& s) {
  const auto first = s.rest.size();
  while (!s.rest.empty() && first - s.rest.size() < 2
         && std::string_view(" -/.,").find(s.rest.front()) != std::string_view::npos)
    s.rest.remove_prefix(1);
  return s.rest.size() < first;
}

/// A day whose month is named.
std::optional<calendar_day> read_named_day(scanner& s, date_order order) {
  calendar_day day;
  const auto number = [&](int& to) {
    const auto n = s.digits(1, 2);
    to = n.value_or(0);
    return n.has_value();
  };
  const auto month = [&] {
    const auto m = read_month(s);
    day.month = m.value_or(0);
    return m.has_value();
  };
  const auto year = [&](bool two) {
    const auto y = read_year(s, two);
    day.year = y.value_or(0);
    return y.has_value();
  };
  const bool fits =
      order == date_order::year_month_day
          ? year(false) && take_part(s) && month() && take_part(s) && number(day.day)
      : order == date_order::day_month_year
          ? number(day.day) && take_part(s) && month() && take_part(s) && year(true)
          : month() && take_part(s) && number(day.day) && take_part(s) && year(true);
  return fits ? std::optional(day) : std::nullopt;
}

std::optional<calendar_day> read_numbered_day(scanner& s, date_order order) {
  const bool year_first = order == date_order::year_month_day;
  const auto length = s.rest.size();
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
  const bool two = separator == '/' || (separator == '.' && length - s.rest.size() == 6);
  const auto third = year_first ? s.digits(1, 2) : read_year(s, two);
  if (!third)
    return std::nullopt;
  if (year_first)
    return calendar_day{*first, *second, *third};
  if (order == date_order::day_month_year)
    return calendar_day{*third, *second, *first};
  return calendar_day{*third, *first, *second};
}

bool has_letter(std::string_view text) {
  for (const char c : text)
    if (is_letter(c))
      return true;
  return false;
}

std::optional<calendar_day> read_day(scanner& s, date_order order) {
  if (has_letter(s.rest))
    if (scanner named = s; const auto day = read_named_day(named, order)) {
      s = named;
      return day;
    }
  return read_numbered_day(s, order);
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

/// Reads "am" or "pm", where one of them stands, and moves `seconds` of that hour to the
/// half of the day. Whether the hour can be of one.
bool read_half(scanner& s, int hours, double& seconds) {
  auto after = s;
  while (after.take(' '))
    ;
  const auto half = after.rest.substr(0, 2);
  const bool before_noon = equal_in_any_case(half, "am");
  if (!before_noon && !equal_in_any_case(half, "pm"))
    return true;
  after.rest.remove_prefix(2);
  s = after;
  seconds += ((before_noon ? 0 : 12) - (hours == 12 ? 12 : 0)) * hour;
  return hours >= 1 && hours <= 12;
}

/// Seconds since midnight; there need be no time.
std::optional<double> read_time(scanner& s) {
  if (s.rest.empty())
    return 0;
  if (!s.take('T')) {
    s.take(',');
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
  if (!read_half(s, *hours, seconds))
    return std::nullopt;
  const auto zone = read_zone(s);
  return zone ? std::optional(seconds - *zone) : std::nullopt;
}

/// A date as it is written, which may be none of a calendar.
struct written_date {
  std::chrono::year_month_day day;
  double seconds = 0; ///< Since midnight.
};

std::optional<written_date> read_date(std::string_view field, date_order order) {
  scanner s{field};
  const auto read = read_day(s, order);
  if (!read)
    return std::nullopt;
  const auto seconds = read_time(s);
  if (!seconds || !s.rest.empty())
    return std::nullopt;
  return written_date{{std::chrono::year(read->year),
                       std::chrono::month(static_cast<unsigned>(read->month)),
                       std::chrono::day(static_cast<unsigned>(read->day))},
                      *seconds};
}

} // namespace

std::string_view to_text(date_order order) {
  switch (order) {
  case date_order::year_month_day:
    return "year, month, day";
  case date_order::day_month_year:
    return "day, month, year";
  case date_order::month_day_year:
    return "month, day, year";
  }
  return "";
}

std::optional<double> field_date(std::string_view field, date_order order) {
  const auto read = read_date(field, order);
  if (!read || !read->day.ok())
    return std::nullopt;
  const auto days = std::chrono::sys_days(read->day).time_since_epoch().count();
  return static_cast<double>(days) * day + read->seconds;
}

bool is_no_day(std::string_view field) {
  bool written = false;
  for (const auto order : {date_order::year_month_day, date_order::day_month_year,
                           date_order::month_day_year}) {
    const auto read = read_date(field, order);
    if (read && read->day.ok())
      return false;
    written = written || read;
  }
  return written;
}

} // namespace clade
