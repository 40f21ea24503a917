#include "engine/data/numbers/field_date.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <array>
#include <cstdio>

using namespace clade;

namespace {

constexpr auto ymd = date_order::year_month_day;
constexpr auto dmy = date_order::day_month_year;
constexpr auto mdy = date_order::month_day_year;
constexpr double day = 86400;

} // namespace

TEST_CASE("field date: days count from 1970 in each order of the parts") {
  CHECK(field_date("1970-01-02", ymd) == day);
  CHECK(field_date("1969-12-31", ymd) == -day);
  CHECK(field_date("2024/2/29", ymd) == field_date("2024-02-29", ymd));
  CHECK(field_date("03.02.1970", dmy) == 33 * day);
  CHECK(field_date("03/02/1970", mdy) == 60 * day);
  CHECK(field_date("3/2/70", mdy) == 60 * day);
  CHECK(field_date("1/1/24", mdy) == field_date("2024-01-01", ymd));
}

TEST_CASE("field date: a time of day and a zone count where they are given") {
  CHECK(field_date("1970-01-01 01:02", ymd) == 3720);
  CHECK(field_date("1970-01-01T01:02:03Z", ymd) == 3723);
  CHECK(field_date("1970-01-01T01:02:03.5", ymd) == Approx(3723.5));
  CHECK(field_date("1970-01-01 02:00:00+02:00", ymd) == 0);
  CHECK(field_date("1970-01-01 00:00-0130", ymd) == 5400);
}

TEST_CASE("field date: months have names, years two digits, and days two halves") {
  const auto first = field_date("2000-01-31", ymd);
  for (const char* text : {"Jan 31 2000", "January 31, 2000", "jan-31-00", "JAN/31/2000"})
    CHECK(field_date(text, mdy) == first);
  for (const char* text : {"31 Jan 2000", "31-JAN-00", "31. January 2000", "31.01.00"})
    CHECK(field_date(text, dmy) == first);
  CHECK(field_date("2000-Jan-31", ymd) == first);
  CHECK(field_date("Sept 1 2000", mdy) == field_date("2000-09-01", ymd));
  CHECK(field_date("2000-01-31 12:30 am", ymd) == *first + 1800);
  CHECK(field_date("2000-01-31 12:30:05 PM", ymd) == *first + 45005);
  CHECK(field_date("Jan 31, 2000, 3:00pm", mdy) == *first + 54000);
  // The order is that of the parts, so that a column has one.
  CHECK(!field_date("31 Jan 2000", mdy));
  CHECK(!field_date("Jan 31 2000", dmy));
}

TEST_CASE("field date: months have names in several languages") {
  const auto march = field_date("2023-03-05", ymd),
             august = field_date("2023-08-05", ymd);
  for (const char* text :
       {"05. M\u00e4rz 2023", "5. M\u00c4RZ 2023", "5 mars 2023", "5 marzo 2023",
        "5-mar\u00e7o-2023", "5 maart 2023", "05.Mrz.2023"})
    CHECK(field_date(text, dmy) == march);
  for (const char* text : {"5 ao\u00fbt 2023", "5. August 2023", "5 agosto 2023"})
    CHECK(field_date(text, dmy) == august);
  CHECK(field_date("05. Januar 2023", dmy) == field_date("2023-01-05", ymd));
  CHECK(!field_date("5 \u00e4 2023", dmy));
  CHECK(!field_date("5  2023", dmy));
}

TEST_CASE("field date: a day that no calendar has is known from what is no date") {
  for (const char* text : {"2024-02-30", "31/31/2024", "0000-00-00", "30 Feb 2024"})
    CHECK(is_no_day(text));
  for (const char* text : {"2024-02-29", "31/12/2024", "12/31/2024", "red", "", "2024"})
    CHECK(!is_no_day(text));
}

TEST_CASE("field date: what is no date is none") {
  for (const char* text :
       {"", "2024", "2024-13-01", "2024-02-30", "2023-02-29", "2024-01/01", "24-01-01",
        "2024-01-01x", "2024-01-01 25:00", "2024-01-01T", "1.2.3", "2024-01-01 13:00 pm",
        "2024-01-01 0:30 am", "2024-01-01 10:00 xm"})
    CHECK(!field_date(text, ymd));
  CHECK(!field_date("1.2.24", dmy));
  CHECK(!field_date("31-12-24", dmy));
  for (const char* text :
       {"Jan 32 2000", "Janu 1 2000", "1 Jan", "Jan 2000", "Jan1 2000"})
    for (const auto order : {ymd, dmy, mdy})
      CHECK(!field_date(text, order));
  CHECK(!field_date("13/31/2024", dmy));
}

TEST_CASE("field date: a day that exists is read as it is written in any order") {
  rc::check([] {
    const int year = *rc::gen::inRange(1583, 2500), month = *rc::gen::inRange(1, 13),
              in_month = *rc::gen::inRange(1, 29);
    std::array<char, 64> text{};
    const auto read = [&](const char* form, int a, int b, int c, date_order order) {
      std::snprintf(text.data(), text.size(), form, a, b, c);
      return field_date(text.data(), order);
    };
    const auto first = read("%04d-%02d-%02d", year, month, in_month, ymd);
    RC_ASSERT(first.has_value());
    RC_ASSERT(read("%d.%d.%04d", in_month, month, year, dmy) == first);
    RC_ASSERT(read("%02d/%02d/%04d", month, in_month, year, mdy) == first);
    RC_ASSERT(
        read("%04d-%02d-%02d", year, month, in_month + 1, ymd).value_or(*first + day)
        == *first + day);
  });
}
