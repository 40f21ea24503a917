#include "genome/base/portable_math.hpp"
#include "genome/base/random.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

using namespace clade;

namespace {

constexpr double pi = 3.14159265358979323846;

bool close(double a, double b) {
  return std::fabs(a - b) <= 1e-15 * std::max(1.0, std::fabs(b));
}

} // namespace

TEST_CASE("portable math: logarithms agree with the C library to the last digits") {
  random_stream random = derive(1, purpose::sample, 0, 0);
  for (int i = 0; i < 20'000; ++i) {
    const double x =
        std::ldexp(0.5 + random.uniform(), static_cast<int>(random.below(2000)) - 1000);
    CAPTURE(x);
    REQUIRE(close(portable_log(x), std::log(x)));
  }
  CHECK(portable_log(1) == 0);
  CHECK(close(portable_log(std::numeric_limits<double>::min()), -708.3964185322641));
}

TEST_CASE("portable math: exponentials agree with the C library to the last digits") {
  random_stream random = derive(2, purpose::sample, 0, 0);
  for (int i = 0; i < 20'000; ++i) {
    const double x = (random.uniform() - 0.5) * 1400;
    CAPTURE(x);
    REQUIRE(std::fabs(portable_exp(x) / std::exp(x) - 1) < 1e-15);
  }
  CHECK(portable_exp(0) == 1);
  CHECK(portable_exp(1e9) == portable_exp(700));
  CHECK(portable_exp(-1e9) == portable_exp(-700));
}

TEST_CASE("portable math: cosines agree with the C library to the last digits") {
  random_stream random = derive(3, purpose::sample, 0, 0);
  for (int i = 0; i < 20'000; ++i) {
    const double turns = random.uniform();
    CAPTURE(turns);
    REQUIRE(close(portable_cos(turns), std::cos(2 * pi * turns)));
  }
  CHECK(portable_cos(0) == 1);
  CHECK(portable_cos(0.25) == 0);
  CHECK(portable_cos(0.5) == -1);
  CHECK(portable_cos(0.75) == 0);
}

TEST_CASE("portable math: these bits are the same on every machine") {
  CHECK(portable_log(10) == 0x1.26bb1bbb55516p+1);
  CHECK(portable_log(1e-4) == -0x1.26bb1bbb55516p+3);
  CHECK(portable_exp(-4.25) == 0x1.d369111221752p-7);
  CHECK(portable_cos(0.1) == 0x1.9e3779b97f4a8p-1);
  CHECK(portable_cos(0.7) == -0x1.3c6ef372fe954p-2);
}
