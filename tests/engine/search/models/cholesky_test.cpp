#include "engine/search/models/base/cholesky.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace clade;

TEST_CASE("cholesky: factors, solves and tells the determinant") {
  // A = [4 2 0; 2 5 1; 0 1 3], with determinant 44.
  const cholesky a({4, 2, 5, 0, 1, 3}, 3);
  REQUIRE(a.valid());
  CHECK(a.log_determinant() == Approx(std::log(44.0)));
  std::vector<double> x{8, 15, 11}; // A (1, 2, 3)
  a.forward(x);
  a.backward(x);
  CHECK(x[0] == Approx(1));
  CHECK(x[1] == Approx(2));
  CHECK(x[2] == Approx(3));
}

TEST_CASE("cholesky: a row appended makes the factor of the larger matrix") {
  cholesky small({4, 2, 5}, 2);
  REQUIRE(small.append({0, 1}, 3));
  CHECK(small.size() == 3);
  CHECK(small.log_determinant() == Approx(std::log(44.0)));
}

TEST_CASE("cholesky: what is not positive definite is refused") {
  CHECK(!cholesky({1, 2, 1}, 2).valid());
  cholesky one({1}, 1);
  CHECK(!one.append({1}, 1));
  CHECK(one.size() == 1);
  CHECK(one.log_determinant() == 0);
}

TEST_CASE("dot: all terms count, whatever their number") {
  const std::vector<double> a{1, 2, 3, 4, 5, 6, 7};
  CHECK(dot(a.data(), a.data(), 0) == 0);
  CHECK(dot(a.data(), a.data(), 3) == 14);
  CHECK(dot(a.data(), a.data(), 7) == 140);
}
