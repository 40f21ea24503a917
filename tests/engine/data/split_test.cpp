#include "engine/data/columns/split.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <numeric>

using namespace clade;

namespace {

std::vector<std::int64_t> classes(std::initializer_list<int> members) {
  std::vector<std::int64_t> labels;
  for (const int& n : members)
    labels.insert(labels.end(), static_cast<std::size_t>(n),
                  static_cast<std::int64_t>(&n - members.begin()));
  return labels;
}

std::map<std::int64_t, std::size_t> count(const std::vector<std::uint32_t>& part,
                                          const std::vector<std::int64_t>& labels) {
  std::map<std::int64_t, std::size_t> n;
  for (const std::uint32_t i : part)
    ++n[labels[i]];
  return n;
}

using counts = std::map<std::int64_t, std::size_t>;

} // namespace

TEST_CASE("split: each class has its share of each part") {
  const auto labels = classes({50, 10, 100});
  const auto parts = split(labels, {.train = 0.6, .validation = 0.2, .test = 0.2}, 7);
  CHECK(count(parts.train, labels) == counts{{0, 30}, {1, 6}, {2, 60}});
  CHECK(count(parts.validation, labels) == counts{{0, 10}, {1, 2}, {2, 20}});
  CHECK(count(parts.test, labels) == counts{{0, 10}, {1, 2}, {2, 20}});
}

TEST_CASE("split: small classes take turns in what rounding leaves") {
  const auto labels = classes({2, 2, 2, 2, 2, 2, 2, 2, 2, 2});
  const auto parts = split(labels, {.train = 0.5, .validation = 0.25, .test = 0.25}, 7);
  CHECK(parts.train.size() == 10);
  CHECK(parts.validation.size() == 5);
  CHECK(parts.test.size() == 5);
  CHECK(count(parts.train, labels).size() == 10);
}

TEST_CASE("split: shares are relative to each other") {
  const auto labels = classes({30, 30});
  CHECK(split(labels, {3, 1, 1}, 7).train == split(labels, {0.6, 0.2, 0.2}, 7).train);
}

TEST_CASE("split: the seed decides who goes where and it alone") {
  const auto labels = classes({12, 8});
  const auto parts = split(labels, {}, 7);
  CHECK(parts.train == split(labels, {}, 7).train);
  CHECK(parts.train != split(labels, {}, 8).train);
  // Literal, so that no change of the algorithm goes unseen: runs that were stored rely
  // on it.
  CHECK(parts.test == std::vector<std::uint32_t>{0, 3, 13, 18});
}

TEST_CASE("split: any classes and shares give parts that hold each example once") {
  CHECK(rc::check([] {
    const auto sizes =
        *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(1, 40)));
    std::vector<std::int64_t> labels;
    for (std::size_t c = 0; c < sizes.size(); ++c)
      labels.insert(labels.end(), static_cast<std::size_t>(sizes[c]),
                    static_cast<std::int64_t>(c));
    const auto share =
        rc::gen::map(rc::gen::inRange(1, 100), [](int s) { return s / 100.0; });
    const split_shares shares{*share, *share, *rc::gen::element(0.0, *share)};
    const auto parts = split(labels, shares, *rc::gen::arbitrary<std::uint64_t>());
    std::vector<std::uint32_t> all = parts.train;
    all.insert(all.end(), parts.validation.begin(), parts.validation.end());
    all.insert(all.end(), parts.test.begin(), parts.test.end());
    std::sort(all.begin(), all.end());
    std::vector<std::uint32_t> each(labels.size());
    std::iota(each.begin(), each.end(), 0U);
    RC_ASSERT(all == each);
    RC_ASSERT(std::is_sorted(parts.train.begin(), parts.train.end()));
    // Every class can be learnt.
    RC_ASSERT(count(parts.train, labels).size() == sizes.size());
    if (shares.test == 0)
      RC_ASSERT(parts.test.empty());
  }));
}

TEST_CASE("draw: so many different ones in order by the seed") {
  CHECK(draw(5, 3, 1, 0) == std::vector<std::uint32_t>{0, 1, 2});
  const auto some = draw(50, 1000, 1, 0);
  CHECK(some.size() == 50);
  CHECK(std::adjacent_find(some.begin(), some.end(), std::greater_equal<>())
        == some.end());
  CHECK(some == draw(50, 1000, 1, 0));
  CHECK(some != draw(50, 1000, 2, 0));
  CHECK(some != draw(50, 1000, 1, 1));
}

TEST_CASE(
    "split: by time, nothing that is trained on is later than what it is judged by") {
  CHECK(rc::check([] {
    const auto times = *rc::gen::nonEmpty(rc::gen::container<std::vector<double>>(
        rc::gen::map(rc::gen::inRange(0, 50), [](int n) { return n / 4.0; })));
    const auto parts =
        split_by_time(times, {.train = 0.6, .validation = 0.2, .test = 0.2});
    RC_ASSERT(parts.train.size() + parts.validation.size() + parts.test.size()
              == times.size());
    for (const auto a : parts.train) {
      for (const auto b : parts.validation)
        RC_ASSERT(times[a] <= times[b]);
      for (const auto b : parts.test)
        RC_ASSERT(times[a] <= times[b]);
    }
    for (const auto a : parts.validation)
      for (const auto b : parts.test)
        RC_ASSERT(times[a] <= times[b]);
  }));
}

TEST_CASE("split: by group, no group is in two parts, and each example in one") {
  CHECK(rc::check([] {
    const auto groups = *rc::gen::nonEmpty(
        rc::gen::container<std::vector<std::uint32_t>>(rc::gen::inRange(0U, 12U)));
    const auto labels = *rc::gen::container<std::vector<std::int64_t>>(
        groups.size(), rc::gen::inRange<std::int64_t>(0, 3));
    const auto parts =
        split_by_group(labels, groups, {.train = 0.6, .validation = 0.2, .test = 0.2}, 3);
    std::map<std::uint32_t, int> part_of;
    std::vector<std::uint32_t> all;
    int part = 0;
    for (const auto* examples : {&parts.train, &parts.validation, &parts.test}) {
      ++part;
      for (const auto i : *examples) {
        all.push_back(i);
        RC_ASSERT(part_of.try_emplace(groups[i], part).first->second == part);
      }
    }
    std::ranges::sort(all);
    std::vector<std::uint32_t> every(groups.size());
    std::iota(every.begin(), every.end(), 0U);
    RC_ASSERT(all == every);
  }));
}

TEST_CASE("split: groups are dealt so that classes have their shares") {
  std::vector<std::int64_t> labels;
  std::vector<std::uint32_t> groups;
  for (std::uint32_t g = 0; g < 20; ++g)
    for (int i = 0; i < 5; ++i) {
      groups.push_back(g);
      labels.push_back(g % 2);
    }
  const auto parts =
      split_by_group(labels, groups, {.train = 0.6, .validation = 0.2, .test = 0.2}, 1);
  CHECK(count(parts.train, labels) == counts{{0, 30}, {1, 30}});
  CHECK(count(parts.validation, labels) == counts{{0, 10}, {1, 10}});
  CHECK(count(parts.test, labels) == counts{{0, 10}, {1, 10}});
}
