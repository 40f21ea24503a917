#include "engine/data/numbers/number_form.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck/catch.h>

#include <cmath>
#include <cstdio>

using namespace clade;

namespace {

/// The number of a field and its unit, or "none".
std::string read(std::string_view field, char decimal = '.') {
  const auto n = read_number(field, decimal);
  if (!n)
    return "none";
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.15g", n->value);
  return text.data() + (n->unit.empty() ? std::string() : " in " + std::string(n->unit));
}

/// A way to write numbers down.
struct style {
  char decimal = '.';
  std::string mark;    ///< Between groups.
  bool indian = false; ///< Groups of two beyond the first thousand.
  std::string minus = "-";
  int minus_place = 0; ///< Before, behind, or brackets around.
  std::string before, behind;
};

std::string grouped(const std::string& digits, const style& s) {
  std::string out;
  const std::size_t n = digits.size();
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t left = n - i;
    const bool group =
        s.indian ? left == 3 || (left > 3 && left % 2 == 1) : left % 3 == 0;
    if (i > 0 && group)
      out += s.mark;
    out += digits[i];
  }
  return out;
}

std::string written(std::uint64_t whole, int decimals, std::uint64_t part, bool negative,
                    const style& s) {
  auto number = grouped(std::to_string(whole), s);
  if (decimals > 0) {
    auto digits = std::to_string(part);
    digits.insert(0, static_cast<std::size_t>(decimals) - digits.size(), '0');
    number += s.decimal + digits;
  }
  number = s.before + number + s.behind;
  if (!negative)
    return number;
  return s.minus_place == 0   ? s.minus + number
         : s.minus_place == 1 ? number + "-"
                              : "(" + number + ")";
}

} // namespace

TEST_CASE("number form: digits stand in groups by every mark that countries use") {
  for (const char* field : {"106343.91", "106,343.91", "106 343.91", "106'343.91",
                            "106\xE2\x80\x99"
                            "343.91",
                            "106\xC2\xA0"
                            "343.91",
                            "106\xE2\x80\xAF"
                            "343.91",
                            "1,06,343.91"})
    CHECK(read(field) == "106343.91");
  CHECK(read("106.343,91", ',') == "106343.91");
  CHECK(read("106\xC2\xA0"
             "343,91",
             ',')
        == "106343.91");
  CHECK(read("1,23,45,678") == "12345678");
  for (const char* field : {"1,23", "1 2 3", "1234 567", "1'234 567", "0,123", "12,34",
                            "1,2345", "1..5", "1.2.3", "", "-", ".", "2024-05-17"})
    CHECK(read(field) == "none");
}

TEST_CASE("number form: signs stand before, behind and as brackets") {
  for (const char* field : {"-5.5",
                            "\xE2\x88\x92"
                            "5.5",
                            "5.5-", "(5.5)", "- 5.5"})
    CHECK(read(field) == "-5.5");
  CHECK(read("+5.5") == "5.5");
  CHECK(read("-$5.50") == "-5.5 in $");
  CHECK(read("$-5.50") == "-5.5 in $");
  CHECK(read("($1,005.50)") == "-1005.5 in $");
  CHECK(read("$(5.50)") == "-5.5 in $");
  CHECK(read("120.-") == "120");
  CHECK(read("1'120.\xE2\x80\x93") == "1120");
  CHECK(read("120,-", ',') == "120");
  CHECK(read("-5-") == "none");
  CHECK(read("1e5") == "100000");
  CHECK(read("1,5E-3", ',') == "0.0015");
}

TEST_CASE("number form: currencies and units are read beside the number") {
  CHECK(read("$2,120.74") == "2120.74 in $");
  CHECK(read("\xE2\x82\xAC"
             "8.43")
        == "8.43 in \xE2\x82\xAC");
  CHECK(read("8,43 \xE2\x82\xAC", ',') == "8.43 in \xE2\x82\xAC");
  CHECK(read("US$ 5") == "5 in US$");
  CHECK(read("CHF 1'200.50") == "1200.5 in CHF");
  CHECK(read("Rs. 1,00,000") == "100000 in Rs.");
  CHECK(read("22.6%") == "22.6 in %");
  CHECK(read("22.6 %") == "22.6 in %");
  CHECK(read("27.4 kg") == "27.4 in kg");
  CHECK(read("12 km/h") == "12 in km/h");
  CHECK(read("45 m2") == "45 in m2");
  CHECK(read("21 \xC2\xB0"
             "C")
        == "21 in \xC2\xB0"
           "C");
  for (const char* field : {"A1", "C1225", "12A3", "5 Main Street 7", "10:30", "18-24",
                            "<5", "10+", "$5 kg", "kg", "1/2"})
    CHECK(read(field) == "none");
}

TEST_CASE("number form: first, second and third are names") {
  for (const char* name : {"1st", "2nd class", "3rd", "4th", "22nd"})
    CHECK_FALSE(read_number(name, '.'));
  CHECK(read_number("5 stones", '.')->unit == "stones");
}

TEST_CASE("number form: a column has one unit, which 0 does not need") {
  const number_form kilograms{.unit = "kg"};
  CHECK(field_number("5 kg", kilograms) == 5.0);
  CHECK(field_number("0", kilograms) == 0.0);
  CHECK_FALSE(field_number("5", kilograms));
  CHECK_FALSE(field_number("5 lb", kilograms));
  CHECK_FALSE(field_number("5 kg", number_form()));
}

TEST_CASE("number form: a mark says by its place whether decimals follow") {
  for (const char* field : {"3.5", "0.249", "1234.567", "1,234.5", "1,234,567", ".125"})
    CHECK(decimal_of(field) == decimal_evidence::point);
  for (const char* field : {"3,5", "0,249", "1234,567", "1.234,5", "1.234.567"})
    CHECK(decimal_of(field) == decimal_evidence::comma);
  for (const char* field : {"1.234", "12,345", "-123.456", "$1,234"})
    CHECK(decimal_of(field) == decimal_evidence::unclear);
  for (const char* field : {"1234", "1'234", "red", "a.b", "1e5"})
    CHECK(decimal_of(field) == decimal_evidence::none);
}

TEST_CASE("number form: whatever way a number is written, it is read exactly") {
  rc::prop("it is the number that plain digits give", [] {
    style s;
    s.decimal = *rc::gen::element('.', ',');
    s.indian = s.decimal == '.' && *rc::gen::inRange(0, 4) == 0;
    const std::string other = s.decimal == '.' ? "," : ".";
    s.mark = s.indian ? ","
                      : *rc::gen::element<std::string>("", other, " ", "'", "\xC2\xA0",
                                                       "\xE2\x80\xAF", "\xE2\x80\x89",
                                                       "\xE2\x80\x99");
    s.minus = *rc::gen::element<std::string>("-", "\xE2\x88\x92", "\xE2\x80\x93");
    s.minus_place = *rc::gen::inRange(0, 3);
    const auto sign = *rc::gen::element<std::string>("", "$", "\xE2\x82\xAC", "EUR");
    const auto space = *rc::gen::element<std::string>("", " ", "\xC2\xA0");
    const auto unit = *rc::gen::element<std::string>("", "%", "kg",
                                                     "\xC2\xB0"
                                                     "C");
    const int beside = *rc::gen::inRange(0, 4);
    if (beside == 0 && !sign.empty())
      s.before = sign + space;
    else if (beside == 1 && !sign.empty())
      s.behind = space + sign;
    else if (beside == 2 && !unit.empty())
      s.behind = space + unit;
    if (!s.behind.empty() && s.minus_place == 1)
      s.minus_place = 0; // Nobody writes "5 kg-".
    const auto whole = *rc::gen::inRange<std::uint64_t>(0, 1'000'000'000'000);
    const int decimals = *rc::gen::inRange(0, 5);
    const auto part = *rc::gen::inRange<std::uint64_t>(
        0, static_cast<std::uint64_t>(std::pow(10, decimals)));
    const bool negative = *rc::gen::arbitrary<bool>();
    const auto plain = written(whole, decimals, part, false, {});
    const double value = (negative ? -1 : 1) * std::strtod(plain.c_str(), nullptr);
    const auto text = written(whole, decimals, part, negative, s);
    RC_LOG(text);
    const auto got = read_number(text, s.decimal);
    RC_ASSERT(got.has_value());
    RC_ASSERT(got->value == value);
    RC_ASSERT(got->unit.empty() == (s.before.empty() && s.behind.empty()));
  });
}
