#include "engine/search/core/known_networks.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <map>

using namespace clade;

TEST_CASE("known networks: none is known at first") {
  const known_networks known;
  CHECK(known.find({0, 0}) == 0);
  CHECK(known.size() == 0);
}

TEST_CASE("known networks: the hash of zero is a hash as any other") {
  known_networks known;
  CHECK(known.find({0, 0}) == 0);
  known.insert({0, 0}, 3);
  CHECK(known.find({0, 0}) == 3);
  CHECK(known.find({0, 64}) == 0);
}

TEST_CASE("known networks: the oldest of equal ones is kept") {
  known_networks known;
  known.insert({1, 7}, 5);
  known.insert({1, 7}, 9);
  CHECK(known.find({1, 7}) == 5);
  known.insert({1, 7}, 2);
  CHECK(known.find({1, 7}) == 2);
  CHECK(known.size() == 1);
}

TEST_CASE("known networks: what a map would find is found") {
  REQUIRE(rc::check("against a map, with many collisions of places", [] {
    known_networks known;
    std::map<std::uint64_t, candidate_id> reference;
    const auto keys = *rc::gen::container<std::vector<std::uint64_t>>(rc::gen::map(
        rc::gen::inRange(0, 300), [](int k) { return std::uint64_t(k) << (k % 60); }));
    candidate_id id = 0;
    for (const auto key : keys) {
      known.insert({0, key}, ++id);
      reference.emplace(key, id);
    }
    RC_ASSERT(known.size() == reference.size());
    for (const auto& [key, first] : reference)
      RC_ASSERT(known.find({0, key}) == first);
    RC_ASSERT(known.find({0, 12345678901234567}) == 0u);
  }));
}

TEST_CASE("known networks: a hundred thousand are all found again") {
  known_networks known;
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;
  for (candidate_id id = 1; id <= 100'000; ++id)
    known.insert({0, id * odd}, id);
  std::size_t wrong = 0;
  for (candidate_id id = 1; id <= 100'000; ++id)
    wrong += known.find({0, id * odd}) == id ? 0 : 1;
  CHECK(wrong == 0);
  CHECK(known.size() == 100'000);
}
