#include "engine/data/tables/table_profile.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <algorithm>
#include <functional>

using namespace clade;

namespace {

using texts = std::vector<std::string>;

column_profile profile_of(const texts& values, const std::string& name = "x") {
  column_profiler p(name);
  for (const std::string& v : values)
    p.add(v);
  return p.finish();
}

texts made(std::size_t count, const std::function<std::string(std::size_t)>& value) {
  texts out;
  for (std::size_t i = 0; i < count; ++i)
    out.push_back(value(i));
  return out;
}

column_kind kind(const texts& values, const std::string& name = "x") {
  return profile_of(values, name).kind;
}

// All that a profile says but what the order of the rows may decide.
std::string without_order(const column_profile& p) {
  std::string out = std::string(to_text(p.kind)) + " " + std::to_string(p.blanks) + " "
                    + std::to_string(p.distinct) + " " + std::to_string(p.numbers) + " "
                    + p.not_number + " " + std::to_string(p.minimum.value_or(-1)) + " "
                    + std::to_string(p.maximum.value_or(-1));
  for (const auto& [value, count] : p.frequent)
    out += " " + value + "=" + std::to_string(count);
  return out;
}

} // namespace

TEST_CASE("table profile: numbers are numbers, however few there are") {
  const auto p = profile_of({"1.5", "-2", "", "1e3", "?", "1.5"});
  CHECK(p.kind == column_kind::number);
  CHECK(p.blanks == 2);
  CHECK(p.distinct == 3);
  CHECK(p.minimum == -2);
  CHECK(p.maximum == 1000);
  CHECK(!p.whole);
  CHECK(p.frequent.front() == value_count{"1.5", 2});
  CHECK(kind({"0", "1", "0", "1"}) == column_kind::number);
}

TEST_CASE("table profile: texts of few values are categories") {
  const auto p = profile_of({"gold", "basic", "NA", "gold"});
  CHECK(p.kind == column_kind::category);
  CHECK(p.distinct == 2);
  CHECK(use_of(p) == column_use{.as = column_kind::category});
  CHECK(kind(made(300, [](auto i) { return "town " + std::to_string(i % 150); }))
        == column_kind::category);
}

TEST_CASE("table profile: yes and no are one pair, in any case, and both") {
  CHECK(kind({"True", "false", "", "TRUE"}) == column_kind::yes_no);
  CHECK(kind({"y", "n"}) == column_kind::yes_no);
  CHECK(kind({"yes", "false"}) == column_kind::category);
  CHECK(kind({"yes", "no", "perhaps"}) == column_kind::category);
  CHECK(kind({"Yes", "yes"}) == column_kind::category);
}

TEST_CASE("table profile: dates have one order for all of their column") {
  const auto p = profile_of({"2024-01-31", "2023-05-01", ""});
  CHECK(p.kind == column_kind::date);
  CHECK(p.order == date_order::year_month_day);
  CHECK(!p.order_unclear);
  CHECK(profile_of({"01/02/2024", "31/01/2024"}).order == date_order::day_month_year);
  CHECK(profile_of({"01/02/2024", "01/31/2024"}).order == date_order::month_day_year);
  CHECK(profile_of({"01.02.2024", "03.04.2024"}).order == date_order::day_month_year);
  CHECK(profile_of({"01/02/2024", "03/04/2024"}).order_unclear);
  CHECK(kind({"01/31/2024", "31/01/2024"}) == column_kind::category);
  CHECK(kind(made(28, [](auto i) { return "2024-02-" + std::to_string(i + 1); }))
        == column_kind::date);
}

TEST_CASE("table profile: infinities are counted apart from other texts") {
  CHECK(profile_of({"1.5", "inf", "-Infinity", "2.5", "x"}).infinite == 2);
}

TEST_CASE("table profile: one date in twenty may be none of a calendar") {
  auto dates = made(38, [](auto i) { return "2024-03-" + std::to_string(i % 28 + 1); });
  dates.insert(dates.end(), {"2024-02-30", "2024-02-31"});
  const auto p = profile_of(dates);
  CHECK(p.kind == column_kind::date);
  CHECK(p.dates == 38);
  CHECK(p.not_date == "2024-02-30");
  dates.push_back("2024-02-30");
  CHECK(profile_of(dates).kind != column_kind::date);
  dates.resize(39);
  dates.back() = "soon";
  CHECK(profile_of(dates).kind != column_kind::date);
  CHECK(profile_of(dates).dates == 38);
  CHECK(profile_of(dates).not_date == "soon");
}

TEST_CASE("table profile: a column has numbers in one unit") {
  const auto in = [](const texts& values, const char* unit) {
    column_profiler p("x", {.unit = unit});
    for (const std::string& v : values)
      p.add(v);
    return p.finish();
  };
  const auto p = in({"$1,200.50", "$3", "", "($5)", "0"}, "$");
  CHECK(p.kind == column_kind::number);
  CHECK(p.unit == "$");
  CHECK(p.minimum == -5);
  CHECK(p.other_units == 0);
  const auto mixed = in({"5 kg", "6 kg", "7 lb", "8"}, "kg");
  CHECK(mixed.kind != column_kind::number);
  CHECK(mixed.other_units == 2);
  CHECK(mixed.other_unit == "7 lb");
  // Letters that all differ are codes.
  CHECK(in({"1A", "2B", "3C", "4D", "5E", "6F", "7G"}, "").other_units == 0);
}

TEST_CASE("table profile: values in the order of the rows are rising or falling") {
  CHECK(profile_of({"2024-01-01", "2024-01-01", "2024-01-03"}).rising);
  CHECK(profile_of({"3", "2", "1"}).falling);
  CHECK(!profile_of({"3", "2", "1"}).rising);
  CHECK(!profile_of({"1", "3", "2"}).rising);
}

TEST_CASE("table profile: codes that are all different are identifiers") {
  const auto codes = made(40, [](auto i) { return "C" + std::to_string(7 * i); });
  CHECK(use_of(profile_of(codes)).ignored == ignore_reason::identifier);
  CHECK(kind(made(40, [](auto i) { return "u" + std::to_string(i) + "@example.org"; }))
        == column_kind::identifier);
  CHECK(kind(texts(codes.begin(), codes.begin() + 9)) == column_kind::category);
}

TEST_CASE("table profile: a number for each row, in order, is an index") {
  const auto counted = [](std::size_t first) {
    return made(30, [=](auto i) { return std::to_string(i + first); });
  };
  CHECK(use_of(profile_of(counted(0))).ignored == ignore_reason::index);
  CHECK(use_of(profile_of(counted(1))).ignored == ignore_reason::index);
  CHECK(kind(counted(2)) == column_kind::number);
  auto shuffled = counted(1);
  std::swap(shuffled[3], shuffled[20]);
  CHECK(kind(shuffled) == column_kind::number);
  CHECK(kind(shuffled, "PassengerId") == column_kind::identifier);
}

TEST_CASE("table profile: an identifier that repeats names groups") {
  const auto visits =
      made(120, [](auto i) { return "P" + std::to_string(100 + i % 30); });
  CHECK(use_of(profile_of(visits, "patient_id")).ignored == ignore_reason::groups);
  CHECK(use_of(profile_of(visits, "ward")).as == column_kind::category);
  const auto few = made(120, [](auto i) { return std::to_string(i % 3); });
  CHECK(kind(few, "plan_id") == column_kind::number);
}

TEST_CASE("table profile: texts of too many values are sentences or left out") {
  const auto sentences =
      made(60, [](auto i) { return "it is row " + std::to_string(i); });
  CHECK(use_of(profile_of(sentences)) == column_use{.as = column_kind::text});
  CHECK(profile_of(sentences).longest == 12);
  const auto words = made(60, [](auto i) { return std::string(i + 1, 'a'); });
  CHECK(use_of(profile_of(words)).ignored == ignore_reason::too_many_values);
}

TEST_CASE("table profile: one value is constant, and so is none") {
  CHECK(use_of(profile_of({"a", "a"})).ignored == ignore_reason::constant);
  CHECK(use_of(profile_of({"", "NA"})).ignored == ignore_reason::blank);
  CHECK(kind({"a", ""}) == column_kind::category);
  CHECK(kind({"5", ""}) == column_kind::number);
}

TEST_CASE("table profile: numbers with a text among them tell which it is") {
  const auto p = profile_of({"1", "2", "unknown", "3"});
  CHECK(p.kind == column_kind::category);
  CHECK(p.numbers == 3);
  CHECK(p.not_number == "unknown");
}

TEST_CASE("table profile: columns are named like identifiers or not") {
  for (const char* name : {"id", "ID", "customer_id", "PassengerId", "userID", "uuid",
                           "Unnamed: 0", "index", "order id"})
    CHECK(named_like_identifier(name));
  for (const char* name : {"paid", "humid", "ACID", "identity", "x", "", "grid"})
    CHECK(!named_like_identifier(name));
}

TEST_CASE("table profile: the order of the rows decides over nothing but order") {
  rc::check([] {
    const auto alphabet = rc::gen::element<std::string>(
        "", "1", "2.5", "-3", "yes", "no", "2024-01-01", "01/02/2024", "gold", "C12");
    auto values = *rc::gen::container<texts>(alphabet);
    const auto before = without_order(profile_of(values));
    std::ranges::sort(values);
    RC_ASSERT(without_order(profile_of(values)) == before);
  });
}

TEST_CASE("table profile: blanks change the count of blanks and nothing else") {
  rc::check([] {
    // Two values at least, for one value and a blank are no constant.
    auto values = *rc::gen::container<texts>(
        rc::gen::element<std::string>("1", "2.5", "yes", "2024-01-01", "gold"));
    values.insert(values.end(), {"1", "gold"});
    auto before = profile_of(values);
    values.insert(values.begin() + *rc::gen::inRange<std::ptrdiff_t>(0, 2), "");
    auto after = profile_of(values);
    RC_ASSERT(after.blanks == before.blanks + 1);
    RC_ASSERT(after.values() == before.values());
    after.blanks = before.blanks;
    RC_ASSERT(without_order(after) == without_order(before));
  });
}

TEST_CASE("table profile: every column that is used has a kind that can be read") {
  rc::check([] {
    const auto values = *rc::gen::container<texts>(rc::gen::element<std::string>(
        "", "1", "0.5", "yes", "no", "2024-01-01", "gold", "a long text of words", "C1"));
    const auto p = profile_of(values);
    const auto use = use_of(p);
    if (use.ignored != ignore_reason::none)
      return;
    RC_ASSERT(use.as == p.kind);
    RC_ASSERT(p.kind != column_kind::number || p.numbers == p.values());
    RC_ASSERT(p.kind != column_kind::date || p.order.has_value());
  });
}

TEST_CASE("table profile: rows that are there twice are counted") {
  const auto t = profile_rows(csv_rows("1,a\n2,b\n1,a\n1,b\n1,a\n"), "t.csv", {"", ""});
  REQUIRE(t);
  CHECK(t->rows == 5);
  CHECK(t->repeated_rows == 2);
  CHECK(t->columns.at(1).kind == column_kind::category);
}

TEST_CASE("table profile: a row of another length is an error with its line") {
  const auto t = profile_rows(csv_rows("1,a\n2\n"), "t.csv", {"", ""});
  REQUIRE(!t);
  CHECK(t.error().message == "t.csv:2: 1 columns, where the lines before have 2");
}
