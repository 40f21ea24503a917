#include "genome/base/portable_math.hpp"

#include <algorithm>
#include <cmath>

// Each function reduces its argument exactly to a small range and evaluates a series
// there by Horner's rule:
//
//     log x     = e ln 2 + 2 (s + s^3/3 + s^5/5 + ...)   x = m 2^e, s = (m - 1) / (m + 1)
//     exp x     = 2^k (1 + r + r^2/2! + ...)             x = k ln 2 + r, |r| <= ln(2) / 2
//     cos 2pi t = +-cos a or +-sin a                     a in [0, pi/4], Taylor's series
//
// frexp, ldexp, floor, fabs and sqrt are exact or correctly rounded everywhere. The
// folder is compiled with -ffp-contract=off, so that no machine fuses a multiplication
// and an addition.

namespace clade {

namespace {

constexpr double ln2_high =
    6.93147180369123816490e-01; // 33 bits, so that k * ln2_high is exact
constexpr double ln2_low = 1.90821492927058770002e-10;
constexpr double tau = 6.28318530717958647692;

double series_cos(double a) {
  const double z = a * a;
  double sum = 0;
  for (int k = 18; k > 0; k -= 2)
    sum = (1 + sum) * -z / (k * (k - 1));
  return 1 + sum;
}

double series_sin(double a) {
  const double z = a * a;
  double sum = 0;
  for (int k = 19; k > 1; k -= 2)
    sum = (1 + sum) * -z / (k * (k - 1));
  return a + a * sum;
}

} // namespace

double portable_log(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < 0.70710678118654752440) {
    m *= 2;
    --exponent;
  }
  const double s = (m - 1) / (m + 1);
  const double z = s * s;
  double sum = 0;
  for (int k = 23; k > 1; k -= 2)
    sum = (sum + 1.0 / k) * z;
  return exponent * ln2_high + (2 * s + (2 * s * sum + exponent * ln2_low));
}

double portable_exp(double x) {
  x = std::clamp(x, -700.0, 700.0);
  const double k = std::floor(x / (ln2_high + ln2_low) + 0.5);
  const double r = (x - k * ln2_high) - k * ln2_low;
  double sum = 0;
  for (int i = 14; i > 1; --i)
    sum = (1 + sum) * r / i;
  return std::ldexp(1 + (r + r * sum), static_cast<int>(k));
}

double portable_cos(double turns) {
  const double half = turns > 0.5 ? 1 - turns : turns;    // cos(2 pi - a) = cos a
  const double quarter = half > 0.25 ? 0.5 - half : half; // cos(pi - a) = -cos a
  const double magnitude =
      quarter <= 0.125 ? series_cos(tau * quarter) : series_sin(tau * (0.25 - quarter));
  return half > 0.25 ? -magnitude : magnitude;
}

} // namespace clade
