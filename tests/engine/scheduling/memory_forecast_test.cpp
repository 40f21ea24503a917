#include "engine/scheduling/memory_forecast.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

using namespace clade;

TEST_CASE("memory forecast: an estimate counts as it is until there are measurements") {
  memory_forecast f;
  CHECK(f.need(0) == 0);
  CHECK(f.need(1000) == 1000);
  for (int i = 0; i < 7; ++i)
    f.observe(1000, 5000);
  CHECK(f.need(1000) == 1000);
  f.observe(1000, 5000);
  CHECK(f.need(1000) == 5000);
}

TEST_CASE("memory forecast: it finds what every candidate needs besides the estimate") {
  memory_forecast f;
  for (std::uint64_t estimated = 100; estimated <= 1000; estimated += 100)
    f.observe(estimated, 50'000 + 2 * estimated);
  CHECK(f.need(10'000) == Approx(70'000).epsilon(0.001));
}

TEST_CASE("memory forecast: more estimated is never less needed, whatever was measured") {
  CHECK(rc::check([](const std::vector<std::pair<std::uint32_t, std::uint32_t>>& seen,
                     std::uint32_t a, std::uint32_t b) {
    memory_forecast f;
    for (const auto& [estimated, measured] : seen)
      f.observe(estimated, measured);
    RC_ASSERT(f.need(1 + std::min(a, b)) <= f.need(1 + std::max(a, b)));
  }));
}
