#include "engine/data/forecast/time_grid.hpp"
#include "engine/data/numbers/field_date.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <string>
#include <vector>

namespace clade {
namespace {

double at(const std::string& date) {
  return field_date(date, date_order::year_month_day).value();
}

time_grid grid_of(const std::vector<std::string>& dates, bool time_of_day = false) {
  std::vector<double> times;
  for (const auto& date : dates)
    times.push_back(at(date));
  return find_grid(std::vector<std::vector<double>>{times}, true, time_of_day);
}

} // namespace

TEST_CASE("time grid: months are steps whatever their days", "[time_grid]") {
  const auto first = grid_of({"2023-11-01", "2023-12-01", "2024-01-01", "2024-02-01"});
  CHECK(first.of == time_grid::unit::month);
  CHECK(first.usual_season() == 12);
  CHECK(first.position(at("2024-03-01")) == 4);
  CHECK(first.text(4) == "2024-03-01");
  CHECK(first.text(-11) == "2022-12-01");
  CHECK_FALSE(first.position(at("2024-03-02")));
  const auto last = grid_of({"2023-12-31", "2024-01-31", "2024-02-29", "2024-03-31"});
  CHECK(last.last_day);
  CHECK(last.text(2) == "2024-02-29");
  CHECK(last.text(4) == "2024-04-30");
  CHECK(last.position(at("2024-04-30")) == 4);
  const auto quarters = grid_of({"2023-01-01", "2023-04-01", "2023-07-01", "2023-10-01"});
  CHECK(quarters.usual_season() == 4);
  CHECK(quarters.step_text() == "a step is 3 months");
  CHECK(quarters.text(4) == "2024-01-01");
}

TEST_CASE("time grid: hours and days have their seasons, and gaps are steps",
          "[time_grid]") {
  const auto hours = grid_of(
      {"2024-01-01 00:00", "2024-01-01 01:00", "2024-01-01 02:00", "2024-01-01 05:00"},
      true);
  CHECK(hours.usual_season() == 24);
  CHECK(hours.position(at("2024-01-01 05:00")) == 5);
  CHECK(hours.text(24) == "2024-01-02 00:00:00");
  CHECK(hours.parts(30).hour == 6U);
  CHECK(hours.parts(30).weekday == 2U);
  CHECK_FALSE(hours.position(at("2024-01-01 05:30")));
  const auto days = grid_of({"2024-02-27", "2024-02-28", "2024-02-29"});
  CHECK(days.usual_season() == 7);
  CHECK(days.text(3) == "2024-03-01");
  CHECK(days.step_text() == "a step is 1 day");
}

TEST_CASE("time grid: weekends are left out where they are never there", "[time_grid]") {
  std::vector<double> times;
  for (double t = at("2024-01-01"); times.size() < 20; t += 86'400) {
    const auto weekday = static_cast<long>(t / 86'400 + 4) % 7;
    if (weekday != 0 && weekday != 6)
      times.push_back(t);
  }
  const auto grid = find_grid(std::vector<std::vector<double>>{times}, true, false);
  CHECK(grid.of == time_grid::unit::business_day);
  CHECK(grid.usual_season() == 5);
  CHECK(grid.position(at("2024-01-08")) == 5);
  CHECK(grid.text(5) == "2024-01-08");
  CHECK_FALSE(grid.position(at("2024-01-06")));
}

TEST_CASE("time grid: numbers with rounding errors are evenly spaced", "[time_grid]") {
  std::vector<double> times;
  for (int i = 0; i < 1'000; ++i)
    times.push_back(0.1 * i);
  const auto grid = find_grid(std::vector<std::vector<double>>{times}, false, false);
  CHECK(grid.position(99.9) == 999);
  CHECK_FALSE(grid.position(0.15));
  CHECK_FALSE(grid.dates());
}

TEST_CASE("time grid: the text of a position is the time of that position",
          "[time_grid]") {
  const std::vector<time_grid> grids{
      grid_of({"2023-11-01", "2023-12-01", "2024-01-01"}),
      grid_of({"2023-12-31", "2024-01-31", "2024-02-29"}),
      grid_of({"2023-01-31", "2023-04-30", "2023-07-31"}),
      grid_of({"2024-02-27", "2024-02-28", "2024-02-29"}),
      grid_of({"2024-01-01 00:00", "2024-01-01 00:15", "2024-01-01 00:30"}, true)};
  CHECK(rc::check([&] {
    const auto& grid = grids[*rc::gen::inRange<std::size_t>(0, grids.size())];
    const auto position = *rc::gen::inRange<std::int64_t>(-5'000, 5'000);
    RC_ASSERT(grid.position(at(grid.text(position))) == position);
  }));
}

TEST_CASE("time grid: seconds are divided as they were written, for years and hours",
          "[time_grid]") {
  constexpr double of_2024 = 1.7e9;
  for (const double step : {0.001, 0.01, 0.1, 0.25}) {
    std::vector<double> times;
    for (int i = 0; i < 20'000; ++i)
      if (i % 977 != 500) // Some are missing.
        times.push_back(of_2024 + step * i);
    const auto grid = find_grid(std::vector<std::vector<double>>{times}, true, true);
    CHECK(grid.step == Approx(step).epsilon(1e-12));
    CHECK(grid.position(of_2024 + step * 19'999) == 19'999);
  }
}

} // namespace clade
