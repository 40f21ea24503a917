#include "engine/data/texts/value_sample.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <algorithm>
#include <map>

using namespace clade;

namespace {

value_sample sample_of(const std::vector<std::string>& values) {
  value_sample s;
  for (const std::string& v : values)
    s.add(v);
  return s;
}

} // namespace

TEST_CASE("value sample: few different texts are counted exactly") {
  rc::check([](const std::vector<std::uint8_t>& numbers) {
    std::map<std::string, std::uint64_t> counts;
    value_sample s;
    for (const auto n : numbers) {
      s.add(std::to_string(n));
      ++counts[std::to_string(n)];
    }
    RC_ASSERT(s.complete());
    RC_ASSERT(s.added() == numbers.size());
    RC_ASSERT(s.distinct() == counts.size());
    std::map<std::string, std::uint64_t> kept;
    for (const auto& [value, count] : s.frequent())
      kept[value] = count;
    RC_ASSERT(kept == counts);
  });
}

TEST_CASE("value sample: the order of the texts says nothing") {
  std::vector<std::string> values;
  for (int i = 0; i < 6000; ++i)
    values.push_back(std::to_string(i % 5000));
  const auto forwards = sample_of(values);
  std::ranges::reverse(values);
  const auto backwards = sample_of(values);
  CHECK(forwards.frequent() == backwards.frequent());
  CHECK(forwards.distinct() == backwards.distinct());
  CHECK(!forwards.complete());
}

TEST_CASE("value sample: of many different texts it keeps some, with exact counts") {
  value_sample s;
  for (int i = 0; i < 90'000; ++i)
    s.add(std::to_string(i % 30'000));
  const auto kept = s.frequent();
  CHECK(kept.size() == value_sample::capacity);
  CHECK(std::ranges::all_of(kept, [](const value_count& v) { return v.count == 3; }));
  CHECK(s.distinct_share() == Approx(1.0 / 3));
  CHECK(s.distinct() > 27'000);
  CHECK(s.distinct() < 33'000);
}

TEST_CASE("value sample: where no text is seen twice, all are different") {
  value_sample s;
  for (int i = 0; i < 10'000; ++i)
    s.add(std::to_string(i));
  CHECK(s.distinct() == 10'000);
  CHECK(s.distinct_share() == 1);
}
