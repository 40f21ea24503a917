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
  CHECK(f.need(1000) == Approx(5000).margin(1));
}

TEST_CASE("memory forecast: it finds a multiple and a power of the estimate") {
  memory_forecast twice, root;
  for (std::uint64_t estimated = 100; estimated <= 1000; estimated += 100) {
    twice.observe(estimated, 2 * estimated);
    root.observe(estimated * estimated, 7 * estimated);
  }
  CHECK(twice.need(10'000) == Approx(20'000).epsilon(0.001));
  CHECK(root.need(100'000'000) == Approx(70'000).epsilon(0.001));
}

TEST_CASE("memory forecast: what was not measured tells nothing") {
  memory_forecast f;
  for (int i = 0; i < 20; ++i)
    f.observe(1000, 0);
  CHECK(f.need(1000) == 1000);
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
