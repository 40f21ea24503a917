#include "engine/data/forecast/time_grid.hpp"

#include "engine/data/converted/table_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace clade {
namespace {

using namespace std::chrono;

constexpr double seconds_of_day = 86'400;

/// A date as its day and the seconds of that day.
struct civil_time {
  year_month_day date;
  sys_days day;
  double rest = 0;
};

civil_time civil(double seconds) {
  const double whole = std::floor(seconds / seconds_of_day);
  const sys_days day{days{static_cast<std::int64_t>(whole)}};
  return {year_month_day{day}, day, seconds - whole * seconds_of_day};
}

bool is_last_of_month(const year_month_day& date) {
  return date == year_month_day{date.year() / date.month() / last};
}

std::int64_t months_of(const year_month_day& date) {
  return std::int64_t{static_cast<int>(date.year())} * 12
         + static_cast<unsigned>(date.month()) - 1;
}

bool is_weekend(const sys_days& day) {
  const weekday of{day};
  return of == Saturday || of == Sunday;
}

/// Counts the days from Monday to Friday; day 0 is a Monday.
std::int64_t business_days_of(const sys_days& day) {
  const std::int64_t since_monday = day.time_since_epoch().count() + 3;
  const auto week =
      static_cast<std::int64_t>(std::floor(static_cast<double>(since_monday) / 7));
  return week * 5 + std::min<std::int64_t>(since_monday - week * 7, 4);
}

sys_days day_of_business(std::int64_t count) {
  const auto week = static_cast<std::int64_t>(std::floor(static_cast<double>(count) / 5));
  return sys_days{days{week * 7 + (count - week * 5) - 3}};
}

sys_days day_of_month(std::int64_t months, const day& wanted, bool last_day) {
  const auto y = static_cast<int>(std::floor(static_cast<double>(months) / 12));
  const auto m = static_cast<unsigned>(months - std::int64_t{y} * 12 + 1);
  const year_month_day_last end{year{y} / month{m} / last};
  if (last_day || wanted > end.day())
    return sys_days{end};
  return sys_days{year{y} / month{m} / wanted};
}

/// By how much rounding may have changed the distance of two times.
double rounding_of(std::span<const std::vector<double>> times) {
  double largest = 0;
  for (const auto& series : times)
    for (const double t : series)
      largest = std::max(largest, std::abs(t));
  return 4 * (std::nextafter(largest, std::numeric_limits<double>::infinity()) - largest);
}

/// Distances that rounding alone keeps apart.
struct alike_distances {
  double least = 0, sum = 0;
  std::size_t count = 0;
};

/// The distance that neighbours have most often, the shorter of equals; 0: there are none.
double commonest_distance(std::span<const std::vector<double>> times) {
  std::vector<double> distances;
  for (const auto& series : times)
    for (std::size_t i = 1; i < series.size(); ++i)
      if (const double d = series[i] - series[i - 1]; d > 0)
        distances.push_back(d);
  std::ranges::sort(distances);
  const double rounding = rounding_of(times);
  alike_distances most, now;
  for (const double d : distances) {
    constexpr double of_a_float = 1e-7;
    if (now.count == 0 || d - now.least > std::max(rounding, of_a_float * d))
      now = {.least = d};
    now.sum += d;
    ++now.count;
    if (now.count > most.count)
      most = now;
  }
  if (most.count == 0)
    return 0;
  const double mean = most.sum / static_cast<double>(most.count);
  // Times of seconds are seldom written to less than a microsecond.
  const double written = std::round(mean * 1e6) / 1e6;
  return written > 0 && std::abs(mean - written) <= rounding ? written : mean;
}

template<class Test>
bool all_times(std::span<const std::vector<double>> times, Test test) {
  return std::ranges::all_of(times, [&](const std::vector<double>& series) {
    return std::ranges::all_of(series, [&](double t) { return test(civil(t)); });
  });
}

/// The greatest number of months that divides all distances; 0 where there is none.
std::int64_t months_between(std::span<const std::vector<double>> times) {
  std::int64_t all = 0;
  for (const auto& series : times)
    for (std::size_t i = 1; i < series.size(); ++i)
      all = std::gcd(all, months_of(civil(series[i]).date)
                              - months_of(civil(series[i - 1]).date));
  return all;
}

std::optional<time_grid> grid_of_months(std::span<const std::vector<double>> times,
                                        double start) {
  const auto first = civil(start);
  const bool same_day = all_times(times, [&](const civil_time& t) {
    return t.date.day() == first.date.day() && t.rest == first.rest;
  });
  const bool last_day = !same_day && all_times(times, [&](const civil_time& t) {
    return is_last_of_month(t.date) && t.rest == first.rest;
  });
  const auto step = same_day || last_day ? months_between(times) : 0;
  if (step == 0)
    return std::nullopt;
  return time_grid{.of = time_grid::unit::month,
                   .start = start,
                   .step = static_cast<double>(step),
                   .last_day = last_day};
}

} // namespace

time_grid find_grid(std::span<const std::vector<double>> times, bool dates,
                    bool time_of_day) {
  double start = 0;
  bool any = false;
  for (const auto& series : times)
    if (!series.empty()) {
      start = any ? std::min(start, series.front()) : series.front();
      any = true;
    }
  const double distance = commonest_distance(times);
  time_grid grid{.start = start, .step = distance > 0 ? distance : 1};
  if (!dates)
    return grid;
  constexpr double shortest_month = 28 * seconds_of_day;
  if (distance >= shortest_month)
    if (auto months = grid_of_months(times, start)) {
      months->time_of_day = time_of_day;
      return *months;
    }
  grid.of = time_grid::unit::second;
  grid.time_of_day = time_of_day;
  if (distance == 0)
    grid.step = seconds_of_day;
  constexpr std::size_t weeks_to_tell = 14;
  const bool workdays =
      grid.step == seconds_of_day
      && std::ranges::any_of(times,
                             [](const auto& t) { return t.size() >= weeks_to_tell; })
      && all_times(times, [](const civil_time& t) { return !is_weekend(t.day); });
  if (workdays)
    grid.of = time_grid::unit::business_day;
  return grid;
}

std::optional<std::int64_t> time_grid::position(double time) const {
  double steps = (time - start) / step;
  if (of == unit::business_day || of == unit::month) {
    const auto from = civil(start), to = civil(time);
    const bool fits = of == unit::month ? last_day ? is_last_of_month(to.date)
                                                   : to.date.day() == from.date.day()
                                        : !is_weekend(to.day);
    if (!fits || to.rest != from.rest)
      return std::nullopt;
    steps =
        of == unit::month
            ? static_cast<double>(months_of(to.date) - months_of(from.date)) / step
            : static_cast<double>(business_days_of(to.day) - business_days_of(from.day));
  }
  constexpr double tolerance = 0.01, most = 1e15;
  const double whole = std::round(steps);
  if (!(std::abs(steps - whole) <= tolerance) || !(std::abs(whole) <= most))
    return std::nullopt;
  return static_cast<std::int64_t>(whole);
}

namespace {

/// The seconds since 1970 of a position.
double seconds_at(const time_grid& grid, std::int64_t position) {
  const auto from = civil(grid.start);
  const auto at = [&](const sys_days& day) {
    return static_cast<double>(day.time_since_epoch().count()) * seconds_of_day
           + from.rest;
  };
  switch (grid.of) {
  case time_grid::unit::business_day:
    return at(day_of_business(business_days_of(from.day) + position));
  case time_grid::unit::month:
    return at(day_of_month(months_of(from.date)
                               + position * static_cast<std::int64_t>(grid.step),
                           from.date.day(), grid.last_day));
  default:
    return grid.start + static_cast<double>(position) * grid.step;
  }
}

} // namespace

std::string time_grid::text(std::int64_t position) const {
  if (!dates())
    return fmt::format("{}", start + static_cast<double>(position) * step);
  const double seconds = seconds_at(*this, position);
  const double whole = std::floor(seconds);
  return date_text(static_cast<std::int64_t>(whole),
                   static_cast<std::uint32_t>((seconds - whole) * 1e9), time_of_day);
}

time_grid::calendar time_grid::parts(std::int64_t position) const {
  if (!dates())
    return {};
  const auto at = civil(seconds_at(*this, position));
  calendar out{.month = static_cast<unsigned>(at.date.month())};
  const bool days =
      of == unit::business_day || (of == unit::second && step <= seconds_of_day);
  if (days)
    out.weekday = weekday{at.day}.c_encoding();
  if (of == unit::second && step <= seconds_of_day / 2)
    out.hour = static_cast<unsigned>(at.rest / 3600);
  return out;
}

std::int64_t time_grid::usual_season() const {
  constexpr double hour = 3600, months_of_year = 12;
  switch (of) {
  case unit::number:
    return 1;
  case unit::business_day:
    return 5;
  case unit::month:
    return std::max<std::int64_t>(1, std::llround(months_of_year / step));
  case unit::second:
    break;
  }
  if (step == seconds_of_day)
    return 7;
  // The day is the season of what is measured within it.
  const double of_day = seconds_of_day / step;
  return step < seconds_of_day && step >= hour / 4 && of_day == std::floor(of_day)
             ? static_cast<std::int64_t>(of_day)
             : 1;
}

std::string time_grid::step_length() const {
  const auto of_unit = [](double count, std::string_view unit) {
    return fmt::format("{} {}{}", count, unit, count == 1 ? "" : "s");
  };
  switch (of) {
  case unit::number:
    return fmt::format("{:.6g}", step);
  case unit::business_day:
    return "a day from Monday to Friday";
  case unit::month:
    return of_unit(step, "month");
  case unit::second:
    break;
  }
  for (const auto& [seconds, name] :
       {std::pair(seconds_of_day, "day"), std::pair(3600.0, "hour"),
        std::pair(60.0, "minute")})
    if (step >= seconds && step / seconds == std::floor(step / seconds))
      return of_unit(step / seconds, name);
  return of_unit(step, "second");
}

std::string time_grid::step_text() const {
  return "a step is " + step_length();
}

} // namespace clade
