#include "engine/run/records/test_details.hpp"

#include "engine/run/records/record_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace clade {

namespace {

constexpr std::size_t most_quantiles = 500, most_quantiles_ahead = 100;
/// So many errors say how wide an interval is.
constexpr std::size_t enough_errors = 100;
constexpr const char* not_finite = "a number of a test is not finite";

std::vector<double> quantiles_of(std::vector<double> errors, std::size_t most) {
  std::ranges::sort(errors);
  const auto n = errors.size(), m = std::min(n, most);
  std::vector<double> values;
  for (std::size_t j = 1; j <= m; ++j)
    values.push_back(errors[(j * n + m - 1) / m - 1]);
  return values;
}

/// `of` has quantiles.
std::optional<double> reach_of(const auto& of, double level) {
  const auto n = static_cast<double>(of.examples);
  const auto m = static_cast<double>(of.values.size());
  const double rank = std::ceil((n + 1) * level - 1e-9);
  if (of.values.empty() || rank > n)
    return std::nullopt;
  // Value j, from 1, is of rank ceil(j n / m).
  const double place = std::ceil(rank * m / n - 1e-9);
  return of.values[static_cast<std::size_t>(std::max(place, 1.0)) - 1];
}

/// Reports what no quantiles are.
void check_quantiles(decoder& in, std::span<const double> values,
                     std::uint64_t examples) {
  if (!std::ranges::all_of(values, [](double v) { return std::isfinite(v); }))
    in.fail(not_finite);
  else if (values.size() > examples || values.empty() != (examples == 0)
           || !std::ranges::is_sorted(values) || (!values.empty() && values[0] < 0))
    in.fail("the errors of a test are not in order");
}

} // namespace

error_quantiles error_quantiles::of(std::vector<double> errors) {
  const auto n = errors.size();
  return {.examples = n, .values = quantiles_of(std::move(errors), most_quantiles)};
}

error_quantiles error_quantiles::of(const std::vector<double>& errors,
                                    std::span<const std::uint32_t> ahead) {
  auto all = of(errors);
  std::map<std::uint32_t, std::vector<double>> by_step;
  for (std::size_t i = 0; i < errors.size(); ++i)
    by_step[ahead[i]].push_back(errors[i]);
  std::vector<quantiles_ahead> groups;
  std::vector<double> together;
  std::size_t left = errors.size();
  for (const auto& [step, of_step] : by_step) {
    together.insert(together.end(), of_step.begin(), of_step.end());
    left -= of_step.size();
    if (together.size() < enough_errors || (left > 0 && left < enough_errors))
      continue;
    groups.push_back(
        {.last = step,
         .examples = together.size(),
         .values = quantiles_of(std::exchange(together, {}), most_quantiles_ahead)});
  }
  if (groups.size() > 1)
    all.ahead = std::move(groups);
  return all;
}

error_quantiles error_quantiles::of_targets(std::span<const double> errors,
                                            std::size_t targets) {
  error_quantiles all;
  auto& each = all.targets.emplace(targets);
  for (std::size_t t = 0; t < targets; ++t) {
    std::vector<double> own;
    for (std::size_t i = t; i < errors.size(); i += targets)
      own.push_back(errors[i]);
    each[t].examples = own.size();
    each[t].values = quantiles_of(std::move(own), most_quantiles);
  }
  return all;
}

std::optional<double> error_quantiles::reach_of_target(double level,
                                                       std::size_t target) const {
  return reach_of(targets->at(target), level);
}

std::optional<double> error_quantiles::reach(double level, std::uint32_t steps) const {
  if (ahead && steps > 0)
    for (const auto& group : *ahead)
      if (steps <= group.last)
        if (const auto known = reach_of(group, level))
          return known;
  return reach_of(*this, level);
}

std::optional<forecast_interval> interval_of(const forecast_curve& of,
                                             const forecast_point& step,
                                             const error_quantiles& errors) {
  const auto reach = errors.reach(forecast_interval::level, step.ahead);
  if (!reach)
    return std::nullopt;
  return forecast_interval{step.predicted - *reach * of.scale,
                           step.predicted + *reach * of.scale};
}

void encode(encoder& out, const error_quantiles& q) {
  write_field(out, q);
}

error_quantiles decode_error_quantiles(decoder& d) {
  return read_as<error_quantiles>(d);
}

void check_read(decoder& in, const error_quantiles& q) {
  check_quantiles(in, q.values, q.examples);
  if (q.ahead
      && (q.ahead->empty()
          || !std::ranges::is_sorted(*q.ahead, std::ranges::less_equal(),
                                     &quantiles_ahead::last)))
    in.fail("the steps of a forecast are not in order");
}

void check_read(decoder& in, const quantiles_ahead& q) {
  check_quantiles(in, q.values, q.examples);
}

void check_read(decoder& in, const quantiles_of_target& q) {
  check_quantiles(in, q.values, q.examples);
}

void check_read(decoder& in, const forecast_point& p) {
  if (!std::isfinite(p.actual) || !std::isfinite(p.predicted))
    in.fail(not_finite);
}

void check_read(decoder& in, const forecast_curve& c) {
  const auto finite = [](const auto& v) { return !v || std::isfinite(*v); };
  if (!std::isfinite(c.scale) || !std::ranges::all_of(c.past, finite))
    in.fail(not_finite);
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
  const auto possible = [](double v) { return v >= -1 && v <= 1; };
  if (m.occlusion
      && (m.occlusion->size() > misclassified::most_cells
          || !std::ranges::all_of(*m.occlusion, possible)))
    in.fail("the map of an image is none");
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
