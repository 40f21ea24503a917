#include "engine/report/base/sign_test.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

double p(std::size_t first, std::size_t second, std::size_t equal = 0) {
  return sign_test({.first = first, .second = second, .equal = equal});
}

} // namespace

TEST_CASE("sign test: known values") {
  // scipy.stats.binomtest(k, n, 0.5).pvalue
  CHECK(p(5, 0) == Approx(0.0625));
  CHECK(p(0, 6) == Approx(0.03125));
  CHECK(p(8, 2) == Approx(0.109375));
  CHECK(p(9, 1) == Approx(0.021484375));
  CHECK(p(15, 5) == Approx(0.04138947));
  CHECK(p(60, 40) == Approx(0.05688793));
}

TEST_CASE("sign test: an even split is no evidence") {
  CHECK(p(3, 3) == 1);
  CHECK(p(4, 3) == Approx(1));
  CHECK(p(0, 0) == 1);
}

TEST_CASE("sign test: equal pairs do not count and sides may change places") {
  CHECK(p(8, 2, 40) == p(8, 2));
  CHECK(p(2, 8) == p(8, 2));
}

TEST_CASE("sign test: many pairs neither overflow nor vanish") {
  CHECK(p(5000, 5000) == 1);
  CHECK(p(5100, 4900) == Approx(0.0466).epsilon(0.01));
  CHECK(p(10000, 0) < 1e-300);
}
