#include "engine/run/records/test_details.hpp"

#include "engine/run/records/record_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace clade {

namespace {

constexpr std::size_t most_quantiles = 500;
constexpr const char* not_finite = "a number of a test is not finite";

} // namespace

error_quantiles error_quantiles::of(std::vector<double> errors) {
  std::ranges::sort(errors);
  const auto n = errors.size(), m = std::min(n, most_quantiles);
  error_quantiles q{.examples = n, .values = {}};
  for (std::size_t j = 1; j <= m; ++j)
    q.values.push_back(errors[(j * n + m - 1) / m - 1]);
  return q;
}

void encode(encoder& out, const error_quantiles& q) {
  write_field(out, q);
}

error_quantiles decode_error_quantiles(decoder& d) {
  return read_as<error_quantiles>(d);
}

void check_read(decoder& in, const error_quantiles& q) {
  if (!std::ranges::all_of(q.values, [](double v) { return std::isfinite(v); }))
    in.fail(not_finite);
  else if (q.values.size() > q.examples || q.values.empty() != (q.examples == 0)
           || !std::ranges::is_sorted(q.values) || (!q.values.empty() && q.values[0] < 0))
    in.fail("the errors of a test are not in order");
}

void check_read(decoder& in, const metric_interval& i) {
  if (!std::isfinite(i.low) || !std::isfinite(i.high))
    in.fail(not_finite);
  else if (i.low > i.high)
    in.fail("the interval of a test ends before it begins");
}

void check_read(decoder& in, const misclassified& m) {
  for (const double p : {m.actual_probability, m.predicted_probability})
    if (!(p >= 0 && p <= 1))
      in.fail("a probability of a test is not in [0, 1]");
}

void check_read(decoder& in, const missed_value& m) {
  if (!std::isfinite(m.actual) || !std::isfinite(m.predicted))
    in.fail(not_finite);
}

void check_read(decoder& in, const reliability_bin& b) {
  for (const double share : {b.said, b.right})
    if (!(share >= 0 && share <= 1))
      in.fail("a share of the reliability of a test is not in [0, 1]");
}

void check_read(decoder& in, const reliability& r) {
  if (!(r.error >= 0 && r.error <= 1))
    in.fail("a calibration error is not in [0, 1]");
}

void check_read(decoder& in, const column_importance& c) {
  if (!std::isfinite(c.low) || !std::isfinite(c.high)
      || !(c.low <= c.worse && c.worse <= c.high))
    in.fail("the importance of a column is not in its interval");
}

void check_read(decoder& in, const test_details& t) {
  const auto finite = [](const value_pair& p) {
    return std::isfinite(p.actual) && std::isfinite(p.predicted);
  };
  if (!std::isfinite(t.standard_error) || !std::ranges::all_of(t.pairs, finite))
    in.fail(not_finite);
  else if (t.confusion.size() != t.classes.size() * t.classes.size())
    in.fail(fmt::format("a confusion of {} classes has {} counts", t.classes.size(),
                        t.confusion.size()));
}

} // namespace clade
