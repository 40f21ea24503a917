#include "engine/data/leaks/target_leak.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <cmath>
#include <limits>

using namespace clade;

namespace {

sampled_column numbers(std::vector<double> v) {
  return {.number = true, .numbers = std::move(v), .codes = {}};
}

sampled_column codes(std::vector<std::uint64_t> v) {
  return {.number = false, .numbers = {}, .codes = std::move(v)};
}

// 400 rows of value(i).
template<class Value>
auto rows(Value value) {
  std::vector<decltype(value(0U))> out;
  for (unsigned i = 0; i < 400; ++i)
    out.push_back(value(i));
  return out;
}

unsigned mixed(unsigned i) {
  return (i * 2654435761U) >> 16;
}

const sampled_column classes =
    codes(rows([](unsigned i) { return std::uint64_t{mixed(i) % 3}; }));

} // namespace

TEST_CASE("target leak: another name of the class gives it away") {
  const auto alias =
      codes(rows([](unsigned i) { return 100 + std::uint64_t{mixed(i) % 3}; }));
  CHECK(gives_away(alias, classes) == 1);
}

TEST_CASE(
    "target leak: a number gives a class away by its range, and a number by itself") {
  const auto number = numbers(rows([](unsigned i) { return double(mixed(i)); }));
  const auto above =
      codes(rows([](unsigned i) { return std::uint64_t{mixed(i) > 30000 ? 1U : 0U}; }));
  CHECK(gives_away(number, above).value_or(0) >= 0.99);
  const auto twice = numbers(rows([](unsigned i) { return 2.0 * mixed(i) + 1; }));
  CHECK(gives_away(number, twice).value_or(0) >= 0.999);
}

TEST_CASE("target leak: what knows little, or only the most frequent class, does not") {
  const auto noise =
      codes(rows([](unsigned i) { return std::uint64_t{mixed(i + 7) % 5}; }));
  CHECK(!gives_away(noise, classes));
  const auto own = codes(rows([](unsigned i) { return std::uint64_t{i}; }));
  CHECK(!gives_away(own, classes));
  const auto rare =
      codes(rows([](unsigned i) { return std::uint64_t{i == 77 ? 1U : 0U}; }));
  CHECK(!gives_away(noise, rare));
}

TEST_CASE("target leak: whether a column is blank can give a class away") {
  const auto left =
      codes(rows([](unsigned i) { return std::uint64_t{mixed(i) % 3 == 0 ? 1U : 0U}; }));
  const auto nearly = codes(rows([](unsigned i) {
    return std::uint64_t{(mixed(i) % 3 == 0) != (i % 41 == 0) ? 1U : 0U};
  }));
  CHECK(blanks_give_away(left, left) == 1);
  CHECK(blanks_give_away(nearly, left).value_or(0) >= 0.95);
  CHECK(!gives_away(nearly, left));
  CHECK(!blanks_give_away(
      codes(rows([](unsigned i) { return std::uint64_t{mixed(i + 3) % 2}; })), left));
  CHECK(!blanks_give_away(codes({}), left));
}

TEST_CASE("target leak: few rows prove nothing, and blanks count as no rows") {
  CHECK(!gives_away(codes({1, 2, 1, 2}), codes({1, 2, 1, 2})));
  const auto blank =
      numbers(rows([](unsigned) { return std::numeric_limits<double>::quiet_NaN(); }));
  CHECK(!gives_away(blank, classes));
}

TEST_CASE("target leak: a column always gives itself away, if it has two values") {
  rc::check([] {
    const auto values = *rc::gen::container<std::vector<std::uint64_t>>(
        200, rc::gen::inRange<std::uint64_t>(0, 3));
    auto column = codes(values);
    // Each value in odd and in even rows, often.
    for (std::size_t i = 0; i < 60; ++i)
      column.codes[i] = i / 2 % 3;
    RC_ASSERT(gives_away(column, column) == 1);
  });
}
