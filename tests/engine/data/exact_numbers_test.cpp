#include "engine/data/numbers/exact_numbers.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck/catch.h>

using namespace clade;

TEST_CASE("exact numbers: they take 64 bits only where 32 would lose something") {
  exact_numbers numbers;
  for (const double v : {1.0, 0.5, -3e9, std::numeric_limits<double>::quiet_NaN()})
    numbers.push_back(v);
  CHECK_FALSE(numbers.wide());
  numbers.push_back(202403151230.0);
  CHECK(numbers.wide());
  CHECK(numbers[0] == 1);
  CHECK(std::isnan(numbers[3]));
  CHECK(numbers[4] == 202403151230.0);
}

TEST_CASE("exact numbers: whatever is put in comes out") {
  rc::prop("in the same order", [](const std::vector<double>& values) {
    exact_numbers numbers;
    for (const double v : values)
      numbers.push_back(v);
    RC_ASSERT(numbers.size() == values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      RC_ASSERT(numbers[i] == values[i]);
    exact_numbers at_once;
    at_once.append(std::span(values));
    RC_ASSERT(at_once == numbers);
    RC_ASSERT(at_once.wide() == numbers.wide());
    RC_ASSERT(at_once.are_bytes() == numbers.are_bytes());
    exact_numbers twice = numbers;
    twice.append(numbers);
    for (std::size_t i = 0; i < values.size(); ++i)
      twice.set(i, 0.1);
    for (std::size_t i = 0; i < values.size(); ++i)
      RC_ASSERT(twice[i] == 0.1 && twice[values.size() + i] == values[i]);
    const auto halves = twice.take_as([](std::size_t i, double v) {
      return i % 2 == 0 ? static_cast<float>(v) : 0.0F;
    });
    RC_ASSERT(halves.size() == 2 * values.size());
    RC_ASSERT(twice.empty());
  });
}

TEST_CASE("exact numbers: bytes at once are the same as bytes in turn") {
  rc::prop("after whatever came before",
           [](const std::vector<double>& before, const std::vector<std::uint8_t>& bytes) {
             exact_numbers in_turn, at_once;
             for (const double v : before)
               in_turn.push_back(v), at_once.push_back(v);
             for (const auto v : bytes)
               in_turn.push_back(v);
             at_once.append(std::span(bytes));
             RC_ASSERT(at_once == in_turn);
             RC_ASSERT(at_once.wide() == in_turn.wide());
             RC_ASSERT(at_once.are_bytes() == in_turn.are_bytes());
           });
}
