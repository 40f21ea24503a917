#include "engine/data/forecast/history.hpp"
#include "engine/data/forecast/window_table.hpp"
#include "engine/data/reading/data_set.hpp"
#include "engine/data/reading/preprocessing.hpp"
#include "tests/engine/data/files.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <set>
#include <string>

namespace clade {
namespace {

/// Sales of shops by day, with the week's season and a price that raises them.
std::string sales(int shops, int days, int ahead = 0) {
  std::string text = "shop,day,price,sold\n";
  for (int shop = 0; shop < shops; ++shop)
    for (int i = 0; i < days + ahead; ++i)
      text += fmt::format(
          "s{},2024-{:02}-{:02},{},{}\n", shop, 1 + i / 28, 1 + i % 28, i % 3,
          i < days ? std::to_string(100 * (shop + 1) + 10 * (i % 7) + 5 * (i % 3)) : "");
  return text;
}

data_params of_sales() {
  return {.file = "sales.csv",
          .target = "sold",
          .task = regression,
          .forecast = {.horizon = 4, .time = "day", .series = {"shop"}, .season = 7}};
}

/// Days of 28 in a month leave gaps of the calendar out.
std::string by_number(std::string text) {
  std::string out;
  int row = -1, last = -1;
  for (std::size_t at = 0; at < text.size(); ++row) {
    const auto end = text.find('\n', at);
    std::string line = text.substr(at, end - at);
    at = end + 1;
    if (row >= 0) {
      const auto first = line.find(','), second = line.find(',', first + 1);
      const int month = std::stoi(line.substr(first + 6, 2));
      last = (month - 1) * 28 + std::stoi(line.substr(first + 9, 2)) - 1;
      line = line.substr(0, first + 1) + std::to_string(last) + line.substr(second);
    }
    out += line + "\n";
  }
  return out;
}

std::string error_of(const std::string& text, const data_params& params = of_sales()) {
  const auto read = read_history(text, "sales.csv", params);
  return read ? "" : read.error().message;
}

} // namespace

TEST_CASE("history: series are told apart, and rows may be in any order", "[forecast]") {
  const auto read = read_history("shop,day,price,sold\n"
                                 "b,3,1,30\na,1,0,1\nb,1,0,10\na,2,1,2\nb,2,2,20\n",
                                 "x.csv", of_sales());
  REQUIRE(read);
  REQUIRE(read->series.size() == 2);
  CHECK(read->series[0].key == std::vector<std::string>{"b"});
  CHECK(read->series[0].values == std::vector<double>{10, 20, 30});
  CHECK(read->series[0].lines == std::vector<std::uint64_t>{4, 6, 2});
  CHECK(read->series[0].fields[0] == std::vector<std::string>{"0", "2", "1"});
  CHECK(read->series[1].values == std::vector<double>{1, 2});
  CHECK(read->target == "sold");
}

TEST_CASE("history: each of several columns is a series", "[forecast]") {
  auto params = of_sales();
  params.targets = {"north", "south"};
  params.forecast.series.clear();
  const auto wide = read_history("day,north,price,south\n1,10,0,1\n2,20,1,\n3,30,2,3\n",
                                 "x.csv", params);
  INFO((wide ? "" : wide.error().message));
  REQUIRE(wide);
  CHECK(wide->target == "value");
  CHECK(wide->keys == std::vector<std::string>{"series"});
  REQUIRE(wide->series.size() == 2);
  CHECK(wide->series[0].key == std::vector<std::string>{"north"});
  CHECK(wide->series[0].values == std::vector<double>{10, 20, 30});
  CHECK(wide->series[1].key == std::vector<std::string>{"south"});
  CHECK(wide->series[1].values[2] == 3);
  CHECK(std::isnan(wide->series[1].values[1]));
  CHECK(wide->series[1].fields[0] == std::vector<std::string>{"0", "1", "2"});
  CHECK(error_of("day,north,price,south\n1,many,0,1\n", params)
            .find("sales.csv:2: column 2 (\"north\") is \"many\"")
        != std::string::npos);
  // Columns may also tell series apart.
  params.forecast.series = {"shop"};
  const auto both = read_history(
      "shop,day,north,south\na,1,1,2\nb,1,3,4\na,2,5,6\nb,2,7,8\n", "x.csv", params);
  REQUIRE(both);
  CHECK(both->keys == std::vector<std::string>{"shop", "series"});
  REQUIRE(both->series.size() == 4);
  CHECK(both->series[3].key == std::vector<std::string>{"b", "south"});
  CHECK(both->series[3].values == std::vector<double>{4, 8});
}

TEST_CASE("history: steps are those that the model learnt", "[forecast]") {
  auto params = of_sales();
  params.forecast.step = "1 day";
  const auto of_days = [&](int every, int count) {
    std::string text = "shop,day,sold\n";
    for (int i = 0; i < count; ++i)
      text += fmt::format("a,2024-03-{:02},{}\n", 1 + every * i, i);
    return error_of(text, params);
  };
  CHECK(of_days(1, 20).empty());
  CHECK(of_days(7, 2).empty()); // Too few to tell.
  CHECK(of_days(7, 4)
        == "sales.csv:2: a step is 7 days, where the model learnt steps of 1 day");
  params.forecast.step = "1 hour";
  CHECK_FALSE(of_days(1, 4).empty());
  // From Monday to Friday, of which nobody knows that it is not each day.
  params.forecast.step = "1 day";
  CHECK(error_of("shop,day,sold\na,2024-03-04,1\na,2024-03-05,2\na,2024-03-06,3\n"
                 "a,2024-03-07,1\na,2024-03-08,2\na,2024-03-11,3\n",
                 params)
            .empty());
}

TEST_CASE("history: steps that are missing are gaps, and rows ahead are known",
          "[forecast]") {
  const auto read = read_history("shop,day,price,sold\n"
                                 "a,1,0,1\na,2,1,NA\na,4,2,4\na,5,3,\na,6,4,\n",
                                 "x.csv", of_sales());
  REQUIRE(read);
  const auto& one = read->series.front();
  REQUIRE(one.values.size() == 4);
  CHECK(std::isnan(one.values[1]));
  CHECK(std::isnan(one.values[2]));
  CHECK(one.fields[0] == std::vector<std::string>{"0", "1", "", "2", "3", "4"});
}

TEST_CASE("history: errors say what is wrong with which line", "[forecast]") {
  CHECK(error_of("shop,day,price,sold\na,1,0,1\na,2,0,2\na,1,0,3\n")
        == "sales.csv:4: the series \"a\" has this time already; say with `series` which "
           "columns tell series apart, or leave one of the rows out");
  CHECK(error_of("shop,day,price,sold\na,1,0,1\na,2,0,many\n")
        == "sales.csv:3: column 4 (\"sold\") is \"many\", where a number must be");
  CHECK(error_of("shop,day,price,sold\na,1,0,1\na,monday,0,2\n")
        == "sales.csv:3: column 2 (\"day\") is \"monday\", where a number must be");
  CHECK(error_of("shop,day,price,sold\na,1,0,1\na,2,0,2\na,3,0,2\na,3.5,0,3\n")
        == "sales.csv:5: the time lies between two steps, where a step is 1; leave the "
           "row out, or sum up rows to even steps");
  CHECK(error_of("shop,day,price,sold\na,1,0,1\na,2,0,2\na,9000000,0,2\n")
            .starts_with("sales.csv:4: the series \"a\" has 3 of 9000000 steps"));
  CHECK(error_of("shop,day,price,sold\na,1,x,1\na,2,0,2\n")
            .starts_with("sales.csv:2: column 3 (\"price\") is \"x\""));
  CHECK(error_of("shop,day,price,sold\na,1,0,\n")
        == "sales.csv:1: no row has a value of the target");
  auto params = of_sales();
  params.forecast.series = {"day"};
  CHECK(error_of("shop,day,price,sold\na,1,0,1\n", params)
        == "sales.csv:1: column 2 (\"day\") is named twice, as target, time or series");
}

TEST_CASE("windows: parts follow each other, and no window looks ahead", "[forecast]") {
  const auto from = read_history(by_number(sales(3, 80)), "x.csv", of_sales());
  REQUIRE(from);
  const auto windows = training_windows(*from, of_sales());
  REQUIRE(windows);
  // The lines of a series are in order of time: its parts must be, too.
  for (std::uint64_t shop = 0; shop < 3; ++shop) {
    std::array<std::uint64_t, 3> first{1'000, 1'000, 1'000}, last{};
    for (std::size_t i = 0; i < windows->parts.size(); ++i) {
      const auto line = windows->lines[i] - 2;
      if (line / 80 != shop)
        continue;
      const auto part = static_cast<std::size_t>(windows->parts[i]);
      first[part] = std::min(first[part], line % 80);
      last[part] = std::max(last[part], line % 80);
    }
    CHECK(last[0] < first[1]);
    CHECK(last[1] < first[2]);
    CHECK(last[2] == 79);
  }
  // A later value changes no window but those that it is the target of.
  auto changed = *from;
  for (auto& series : changed.series)
    series.values.back() += 1'000;
  const auto others = training_windows(changed, of_sales());
  REQUIRE(others);
  const auto lines = std::count(windows->text.begin(), windows->text.end(), '\n');
  CHECK(lines == std::count(others->text.begin(), others->text.end(), '\n'));
  std::size_t at = windows->text.find('\n') + 1, at_other = others->text.find('\n') + 1;
  for (std::size_t i = 0; i < windows->parts.size(); ++i) {
    const auto end = windows->text.find('\n', at),
               other = others->text.find('\n', at_other);
    const auto line = windows->text.substr(at, end - at),
               other_line = others->text.substr(at_other, other - at_other);
    // All but the target of the last step is as it was.
    CHECK(line.substr(0, line.rfind(',')) == other_line.substr(0, other_line.rfind(',')));
    at = end + 1;
    at_other = other + 1;
  }
}

TEST_CASE("windows: simple forecasts are judged in errors of the seasonal naive one",
          "[forecast]") {
  std::string text = "shop,day,price,sold\n";
  for (int i = 0; i < 40; ++i)
    text += fmt::format("a,{},0,{}\n", i, 100 + i % 7 + (i / 7) * 2);
  const auto from = read_history(text, "x.csv", of_sales());
  REQUIRE(from);
  const auto windows = training_windows(*from, of_sales());
  REQUIRE(windows);
  // Each week is 2 above the one before, which is the error of that forecast.
  CHECK(windows->naive_error == Approx(1));
  CHECK(windows->smoothing_error < 1);
}

TEST_CASE("windows: each is known by its steps ahead, unit and naive forecast",
          "[forecast]") {
  const auto from = read_history(by_number(sales(9, 80)), "x.csv", of_sales());
  REQUIRE(from);
  const auto windows = training_windows(*from, of_sales());
  REQUIRE(windows);
  const auto& steps = windows->steps;
  const auto n = windows->parts.size();
  CHECK(steps.ahead.size() == n);
  CHECK(steps.offset.size() == n);
  CHECK(steps.scale.size() == n);
  REQUIRE(steps.naive.size() == n);
  for (std::size_t i = 0; i < n; ++i) {
    CHECK(steps.ahead[i] == i % 4 + 1);
    CHECK(steps.scale[i] > 0);
  }
  // Six of nine series are drawn: the last forecast of each, with two seasons before it.
  REQUIRE(steps.drawn.size() == 6);
  std::set<std::string> names;
  for (const auto& one : steps.drawn) {
    names.insert(one.series.front());
    CHECK(one.count == 4);
    CHECK(one.from == "62");
    CHECK(one.origin == "75");
    CHECK(one.to == "79");
    CHECK(one.past.size() == 14);
    for (std::uint32_t k = 0; k < one.count; ++k) {
      const auto i = one.first + k;
      CHECK(windows->parts[i] == window_part::test);
      // The value of the same weekday, one week before.
      CHECK(steps.offset[i] + steps.scale[i] * steps.naive[i]
            == Approx(one.past[one.past.size() - 7 + k]));
    }
  }
  CHECK(names.size() == 6);
}

TEST_CASE("windows: a forecast of a series with gaps is drawn as far as it is known",
          "[forecast]") {
  std::string text = "shop,day,price,sold\n";
  for (int i = 0; i < 60; ++i)
    text += fmt::format("a,{},0,{}\n", i,
                        i == 50 || i == 57 ? "" : std::to_string(i % 7 + i % 3));
  const auto from = read_history(text, "x.csv", of_sales());
  REQUIRE(from);
  const auto windows = training_windows(*from, of_sales());
  REQUIRE(windows);
  const auto& steps = windows->steps;
  REQUIRE(steps.drawn.size() == 1);
  const auto& one = steps.drawn.front();
  CHECK(one.count == 3);
  CHECK(std::isnan(one.past[8])); // Step 50 of those from 42 to 55.
  CHECK(steps.ahead[one.first + 1] == 3);
}

TEST_CASE("windows: months are learnt from only where all of them were seen",
          "[forecast]") {
  const auto columns = [](int days, const std::vector<std::string>& learnt = {}) {
    std::string text = "shop,day,price,sold\n";
    auto day = std::chrono::sys_days(std::chrono::year(2023) / 3 / 1);
    for (int i = 0; i < days; ++i, day += std::chrono::days(1)) {
      const std::chrono::year_month_day date(day);
      text += fmt::format("a,{}-{:02}-{:02},0,{}\n", static_cast<int>(date.year()),
                          static_cast<unsigned>(date.month()),
                          static_cast<unsigned>(date.day()), i % 7);
    }
    const auto from = read_history(text, "x.csv", of_sales());
    REQUIRE(from);
    const auto windows = learnt.empty() ? training_windows(*from, of_sales())
                                        : new_windows(*from, of_sales(), learnt);
    REQUIRE(windows);
    return windows->text.substr(0, windows->text.find('\n'));
  };
  CHECK(columns(300).starts_with("weekday,steps ahead,"));
  CHECK(columns(700).starts_with("month,weekday,steps ahead,"));
  // New windows have what the model knows, also of a single series.
  CHECK(columns(300, {"shop", "month"}).starts_with("shop,month,weekday,steps ahead,"));
  CHECK(columns(700, {"weekday"}).starts_with("weekday,steps ahead,"));
}

TEST_CASE("windows: a series that is too short is left out, all are an error",
          "[forecast]") {
  const auto text = by_number(sales(1, 60)) + "short,0,0,1\nshort,1,0,2\n";
  const auto from = read_history(text, "x.csv", of_sales());
  REQUIRE(from);
  const auto windows = training_windows(*from, of_sales());
  REQUIRE(windows);
  CHECK(windows->too_short == 1);
  const auto few = read_history(by_number(sales(2, 18)), "x.csv", of_sales());
  REQUIRE(few);
  const auto none = training_windows(*few, of_sales());
  REQUIRE_FALSE(none);
  CHECK(
      none.error().message
      == "the longest series has 18 steps, where horizon = 4 and season = 7 take 19: one "
         "horizon for validation, one for the test, and both before them; make the "
         "horizon shorter");
}

TEST_CASE("forecast: data is loaded in parts, and new rows go through the same steps",
          "[forecast]") {
  const scratch_folder folder;
  auto params = of_sales();
  params.file = write(folder, "sales.csv", by_number(sales(2, 80)));
  const auto data = load_data(params, 1, {});
  REQUIRE(data);
  CHECK(data->task == regression);
  CHECK_FALSE(data->train.empty());
  CHECK(data->train.back() < data->examples);
  CHECK(data->validation.size() == data->test.size());
  CHECK_FALSE(data->parts_by_chance);
  REQUIRE(data->steps);
  CHECK(data->steps->ahead.size() == data->examples);
  CHECK(data->steps->drawn.size() == 2);
  const auto how = fit_preprocessing(params, 1);
  REQUIRE(how);
  CHECK(how->target == "sold");
  const auto next = write(folder, "next.csv", by_number(sales(2, 70, 6)));
  const auto rows = read_new_examples(next, "", params, *how);
  REQUIRE(rows);
  REQUIRE(rows->count == 8);
  CHECK(rows->forecasts.names == std::vector<std::string>{"shop", "day"});
  CHECK(rows->forecasts.rows[2].ahead == 3);
  CHECK(rows->forecasts.rows[0].labels == std::vector<std::string>{"s0", "70"});
  CHECK(rows->forecasts.rows[7].labels == std::vector<std::string>{"s1", "73"});
  // Near the value one week before step 70 of the first shop, whose prices differ.
  CHECK(rows->forecasts.rows[0].offset == Approx(100 + 10 * (63 % 7)).margin(10));
  CHECK(rows->forecasts.rows[0].scale > 0);
  CHECK(rows->features.size() == rows->count * how->inputs());
}

TEST_CASE("forecast: the last steps are held back where forecasts are compared",
          "[forecast]") {
  const scratch_folder folder;
  auto params = of_sales();
  params.file = write(folder, "sales.csv", by_number(sales(2, 80)));
  const auto how = fit_preprocessing(params, 1);
  REQUIRE(how);
  const auto shorter = write(folder, "shorter.csv", by_number(sales(2, 70)));
  const auto longer =
      write(folder, "longer.csv", by_number(sales(2, 74)) + "s2,0,0,1\ns2,1,0,2\n");
  const auto ahead = read_new_examples(shorter, "", params, *how);
  params.forecast.hold_back = true;
  const auto held = read_new_examples(longer, "", params, *how);
  INFO((held ? "" : held.error().message));
  REQUIRE(held);
  REQUIRE(ahead);
  CHECK(held->notes
        == std::vector{longer.string() + ": 1 series is too short to be forecast"});
  REQUIRE(held->targets);
  REQUIRE(held->targets->values.size() == 8);
  for (std::size_t i = 0; i < 8; ++i) {
    const auto& row = held->forecasts.rows[i];
    CHECK(row.labels == ahead->forecasts.rows[i].labels);
    CHECK(row.offset == Approx(ahead->forecasts.rows[i].offset));
    const auto shop = i / 4, day = 70 + i % 4;
    CHECK(row.offset + row.scale * held->targets->values[i]
          == Approx(100.0 * static_cast<double>(shop + 1) + 10 * (day % 7)
                    + 5 * (day % 3)));
  }
  const auto few = write(folder, "few.csv", by_number(sales(2, 5)));
  const auto none = read_new_examples(few, "", params, *how);
  REQUIRE_FALSE(none);
  CHECK(none.error().message.ends_with("no series has two steps before the last 4, with "
                                       "which forecasts would be compared"));
}

TEST_CASE("forecast: what cannot be meant is said", "[forecast]") {
  const auto said = [](auto change) {
    auto params = of_sales();
    change(params);
    const auto valid = validate(params);
    return valid ? "" : valid.error().message;
  };
  CHECK(said([](data_params& p) { p.task = classification; })
        == "a forecast is of numbers: with horizon, say task = \"regression\"");
  CHECK(said([](data_params& p) {
          p.forecast.horizon = 0;
        }).starts_with("season, step and known are for forecasts"));
  CHECK(said([](data_params& p) { p.forecast.horizon = 20'000; })
        == "horizon must be at most 10000 steps, and season 1000000");
  CHECK(said([](data_params& p) {
          p.test_file = "more.csv";
        }).starts_with("with horizon, the series are in one table"));
  CHECK(said([](data_params&) {}).empty());
}

} // namespace clade
