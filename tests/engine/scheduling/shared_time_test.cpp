#include "engine/scheduling/shared_time.hpp"

#include <catch2/catch.hpp>

using namespace clade;
using namespace std::chrono_literals;

namespace {

constexpr shared_time::clock::time_point start{1h};

shared_time of(candidate_id trainings) {
  shared_time all;
  for (candidate_id id = 1; id <= trainings; ++id)
    all.submit(id, 100s, start);
  return all;
}

} // namespace

TEST_CASE("shared time: three trainings on two slots") {
  auto all = of(3);
  CHECK(all.hand_out(1, 2, start) == 50s);
  CHECK(all.hand_out(2, 2, start) == 100s);
  all.end(1);
  CHECK(all.hand_out(3, 2, start + 60s) == 40s);
}

TEST_CASE("shared time: one that is tried again has what is left") {
  auto all = of(1);
  CHECK(all.hand_out(1, 4, start) == 100s);
  CHECK(all.hand_out(1, 4, start + 30s) == 70s);
  CHECK(all.hand_out(1, 4, start + 200s) == 1s);
}

TEST_CASE("shared time: one that ended before it was handed out takes nothing") {
  auto all = of(3);
  all.end(2);
  CHECK_FALSE(all.has(2));
  CHECK(all.hand_out(1, 1, start) == 50s);
  CHECK(all.hand_out(3, 1, start + 50s) == 50s);
}

TEST_CASE("shared time: less than a second is not made more") {
  shared_time all;
  all.submit(1, 200ms, start);
  CHECK(all.hand_out(1, 0, start + 150ms) == 200ms);
}
