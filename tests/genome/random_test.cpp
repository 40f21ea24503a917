#include "genome/base/random.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <set>

using namespace clade;

namespace {

constexpr std::uint64_t ones = ~std::uint64_t{0};
using words = std::array<std::uint64_t, 4>;

} // namespace

TEST_CASE("random: Philox gives the known answers of Random123") {
  CHECK(philox({0, 0, 0, 0}, {0, 0})
        == words{0x16554d9eca36314c, 0xdb20fe9d672d0fdc, 0xd7e772cee186176b,
                 0x7e68b68aec7ba23b});
  CHECK(philox({ones, ones, ones, ones}, {ones, ones})
        == words{0x87b092c3013fe90b, 0x438c3c67be8d0224, 0x9cc7d7c69cd777b6,
                 0xa09caebf594f0ba0});
  CHECK(philox({0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0,
                0x082efa98ec4e6c89},
               {0x452821e638d01377, 0xbe5466cf34e90c6c})
        == words{0xa528f45403e61d95, 0x38c72dbd566e9788, 0xa5a1610e72fd18b5,
                 0x57bd43b5e52b7fe6});
}

TEST_CASE("random: a stream is the blocks of its key one after another") {
  random_stream stream({11, purpose::mutation, 3, 5, 7});
  for (std::uint64_t block = 0; block < 3; ++block)
    for (const std::uint64_t word : philox({3, 5, 7, block}, {11, 3}))
      CHECK(stream.next() == word);
}

TEST_CASE("random: every part of the key matters and the same key repeats") {
  const auto first = [](std::uint64_t seed, purpose what, std::uint64_t generation,
                        std::uint64_t index, std::uint64_t attempt) {
    return derive(seed, what, generation, index, attempt).next();
  };
  const std::set<std::uint64_t> drawn{
      first(1, purpose::sample, 0, 0, 0), first(2, purpose::sample, 0, 0, 0),
      first(1, purpose::split, 0, 0, 0),  first(1, purpose::sample, 1, 0, 0),
      first(1, purpose::sample, 0, 1, 0), first(1, purpose::sample, 0, 0, 1)};
  CHECK(drawn.size() == 6);
  CHECK(drawn.count(first(1, purpose::sample, 0, 0, 0)) == 1);
}

TEST_CASE("random: draws of one key are these for ever") {
  random_stream bits = derive(1, purpose::sample, 2, 3, 4);
  CHECK(bits.next() == 0x8f967c28ac168554);
  CHECK(bits.next() == 0x39cc98f70ac2a33c);
  random_stream numbers = derive(1, purpose::training, 2, 3);
  CHECK(numbers.uniform() == 0x1.d9f749d6fe429p-1);
  CHECK(numbers.below(1000) == 697);
  CHECK(numbers.below(std::uint64_t{3} << 61) == 4674231591558139123);
  CHECK(numbers.normal() == 0x1.56f91fc0df6f6p-1);
  CHECK(numbers.normal() == 0x1.6a4d03c24daecp-7);
  CHECK(numbers.chance(0.5));
}

TEST_CASE("random: uniform numbers fill the unit interval evenly") {
  random_stream stream = derive(7, purpose::sample, 0, 0);
  std::array<int, 10> counts{};
  for (int i = 0; i < 100'000; ++i) {
    const double u = stream.uniform();
    REQUIRE(u >= 0);
    REQUIRE(u < 1);
    ++counts[static_cast<std::size_t>(u * 10)];
  }
  for (const int count : counts)
    CHECK(std::abs(count - 10'000) < 400); // over four standard deviations
}

TEST_CASE("random: whole numbers are even below any bound") {
  random_stream stream = derive(8, purpose::sample, 0, 0);
  std::array<int, 6> counts{};
  for (int i = 0; i < 60'000; ++i)
    ++counts[stream.below(6)];
  for (const int count : counts)
    CHECK(std::abs(count - 10'000) < 400);
  // A bound for which a third of all words must be drawn again.
  const std::uint64_t bound = std::uint64_t{3} << 62;
  int low = 0;
  for (int i = 0; i < 30'000; ++i) {
    const std::uint64_t n = stream.below(bound);
    REQUIRE(n < bound);
    low += n < bound / 3 ? 1 : 0;
  }
  CHECK(std::abs(low - 10'000) < 400);
  CHECK(stream.below(1) == 0);
}

TEST_CASE("random: normal numbers have mean 0 and variance 1 and take two words each") {
  random_stream stream = derive(9, purpose::sample, 0, 0);
  double sum = 0, squares = 0, fourths = 0;
  const int draws = 100'000;
  for (int i = 0; i < draws; ++i) {
    const double x = stream.normal();
    REQUIRE(std::isfinite(x));
    sum += x;
    squares += x * x;
    fourths += x * x * x * x;
  }
  CHECK(std::fabs(sum / draws) < 0.015);
  CHECK(std::fabs(squares / draws - 1) < 0.02);
  CHECK(std::fabs(fourths / draws - 3) < 0.15);
  random_stream other = derive(9, purpose::sample, 0, 0);
  for (int i = 0; i < 2 * draws; ++i)
    other.next();
  CHECK(stream.next() == other.next());
}
