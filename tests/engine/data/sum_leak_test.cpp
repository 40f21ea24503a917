#include "engine/data/leaks/sum_leak.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>

using namespace clade;

namespace {

constexpr unsigned rows = 120;

/// Looks like chance, whatever the row and the column (Steele et al., 2014).
double noise(unsigned row, unsigned column) {
  std::uint64_t v = (std::uint64_t{column} << 32) + row + 1;
  v *= 0x9e3779b97f4a7c15;
  v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9;
  v = (v ^ (v >> 27)) * 0x94d049bb133111eb;
  return static_cast<double>((v ^ (v >> 31)) >> 11) / 0x1p53;
}

template<class Value>
sampled_column column(Value value) {
  sampled_column out{.number = true, .numbers = {}, .codes = {}};
  for (unsigned row = 0; row < rows; ++row)
    out.numbers.push_back(value(row));
  return out;
}

std::vector<sampled_column> five_columns() {
  std::vector<sampled_column> out;
  for (unsigned i = 0; i < 5; ++i)
    out.push_back(column([&](unsigned row) { return 1 + 10 * noise(row, i); }));
  return out;
}

} // namespace

TEST_CASE("sum leak: one column, few rows, no near neighbours: awake = 24 - asleep") {
  const auto columns = five_columns();
  const auto awake = column([&](unsigned row) { return 24 - columns[3].numbers[row]; });
  const auto found = adds_up(columns, awake);
  REQUIRE(found);
  CHECK(found->columns == std::vector<std::size_t>{3});
  CHECK(found->share > 0.9999);
}

TEST_CASE("sum leak: a rounded sum names its parts and no others") {
  const auto columns = five_columns();
  const auto sum = column([&](unsigned row) {
    return std::round(100
                      * (columns[0].numbers[row] + 2 * columns[2].numbers[row]
                         - columns[4].numbers[row]))
           / 100;
  });
  const auto found = adds_up(columns, sum);
  REQUIRE(found);
  CHECK(found->columns == std::vector<std::size_t>{0, 2, 4});
  CHECK_FALSE(found->multiplied);
}

TEST_CASE("sum leak: a price times a number is a product") {
  const auto columns = five_columns();
  const auto total = column(
      [&](unsigned row) { return columns[1].numbers[row] * columns[3].numbers[row]; });
  const auto found = adds_up(columns, total);
  REQUIRE(found);
  CHECK(found->columns == std::vector<std::size_t>{1, 3});
  CHECK(found->multiplied);
}

TEST_CASE("sum leak: a good prediction is none, nor is chance, nor are few rows") {
  const auto columns = five_columns();
  const auto near = column([&](unsigned row) {
    return columns[0].numbers[row] + columns[1].numbers[row] + 0.5 * noise(row, 9);
  });
  CHECK_FALSE(adds_up(columns, near));
  CHECK_FALSE(adds_up(columns, column([](unsigned row) { return noise(row, 8); })));
  std::vector<sampled_column> many;
  for (unsigned i = 0; i < 200; ++i)
    many.push_back(column([&](unsigned row) { return noise(row, 20 + i); }));
  CHECK_FALSE(adds_up(many, column([](unsigned row) { return noise(row, 8); })));
  auto few = columns.front();
  few.numbers.resize(20);
  CHECK_FALSE(adds_up(std::vector{few}, few));
}
