#include "engine/data/columns/date_column.hpp"

#include <algorithm>
#include <cmath>

namespace clade {

date_column::fit date_column::add(std::string_view field) {
  constexpr double day = 86'400;
  auto fits = fits_;
  bool any = false;
  for (std::size_t o = 0; o < orders; ++o) {
    const auto seconds = field_date(field, static_cast<date_order>(o));
    any = any || seconds;
    fits[o] = fits[o] && seconds;
    timed_[o] = timed_[o] || (seconds && std::fmod(*seconds, day) != 0);
  }
  if (!any)
    return is_no_day(field) ? fit::no_day : fit::no_date;
  if (std::ranges::none_of(fits, [](bool f) { return f; }))
    return fit::other_order;
  fits_ = fits;
  dotted_ = dotted_ || field.find('.') != std::string_view::npos;
  return fit::date;
}

date_order date_column::order() const {
  const auto fits = [&](date_order o) { return fits_[static_cast<std::size_t>(o)]; };
  if (fits(date_order::year_month_day))
    return date_order::year_month_day;
  if (fits(date_order::day_month_year) && (dotted_ || !fits(date_order::month_day_year)))
    return date_order::day_month_year;
  return date_order::month_day_year;
}

bool date_column::time_of_day() const {
  return timed_[static_cast<std::size_t>(order())];
}

} // namespace clade
