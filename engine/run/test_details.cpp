#include "engine/run/test_details.hpp"

#include "engine/run/record.hpp"

#include <algorithm>
#include <cmath>

namespace clade {

namespace {

constexpr std::size_t most_quantiles = 500;

double decode_finite(decoder& d) {
  const auto v = d.real();
  if (!std::isfinite(v))
    d.fail("a number of a test is not finite");
  return v;
}

value_pair decode_pair(decoder& d) {
  d.array(2);
  value_pair p;
  p.actual = decode_finite(d);
  p.predicted = decode_finite(d);
  return p;
}

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
  out.array(2).natural(q.examples).array(q.values.size());
  for (const auto v : q.values)
    out.real(v);
}

void encode(encoder& out, const test_details& t) {
  out.array(7).array(3).natural(t.train).natural(t.validation).natural(t.test);
  encode(out, t.metrics);
  out.real(t.standard_error).array(t.classes.size());
  for (const auto& name : t.classes)
    out.text(name);
  out.array(t.confusion.size());
  for (const auto count : t.confusion)
    out.natural(count);
  out.array(t.pairs.size());
  for (const auto& p : t.pairs)
    out.array(2).real(p.actual).real(p.predicted);
  encode(out, t.validation_errors);
}

error_quantiles decode_error_quantiles(decoder& d) {
  error_quantiles q;
  d.array(2);
  q.examples = d.natural();
  q.values = decode_list(d, decode_finite);
  if (!d.failed()
      && (q.values.size() > q.examples || q.values.empty() != (q.examples == 0)
          || !std::ranges::is_sorted(q.values) || (!q.values.empty() && q.values[0] < 0)))
    d.fail("the errors of a test are not in order");
  return q;
}

test_details decode_test_details(decoder& d) {
  test_details t;
  d.array(7);
  d.array(3);
  t.train = d.natural();
  t.validation = d.natural();
  t.test = d.natural();
  t.metrics = decode_metrics(d);
  t.standard_error = decode_finite(d);
  t.classes = decode_list(d, [](decoder& e) { return e.text(); });
  t.confusion = decode_list(d, [](decoder& e) { return e.natural(); });
  t.pairs = decode_list(d, decode_pair);
  t.validation_errors = decode_error_quantiles(d);
  if (!d.failed() && t.confusion.size() != t.classes.size() * t.classes.size())
    d.fail("a confusion of " + std::to_string(t.classes.size()) + " classes has "
           + std::to_string(t.confusion.size()) + " counts");
  return t;
}

} // namespace clade
