// All kernels of one parameter have the same width, so that those of ordered values fit a
// table from each value to each other, those of choices two numbers, and those of reals
// need but their normaliser beside the mean. A density is then a sum of look-ups.
#include "engine/search/models/base/parzen.hpp"

#include "genome/base/portable_math.hpp"
#include "genome/genes/unit_cube.hpp"

#include <algorithm>
#include <cmath>

namespace clade {

namespace {

constexpr double prior_weight = 1, prior_mean = 0.5, prior_width = 1;
constexpr double width_at_one = 0.2;
constexpr std::size_t most_values = 64;
constexpr int drawing_attempts = 64;

/// Returns the number of values of an integer domain or a list; 0: too many to be told
/// apart here.
std::size_t count_of_values(const parameter& p) {
  if (const auto* list = std::get_if<choice_domain>(&p.domain))
    return list->options.size();
  const auto* whole = std::get_if<integer_domain>(&p.domain);
  if (whole == nullptr)
    return 0;
  const auto last =
      (static_cast<std::uint64_t>(whole->high) - static_cast<std::uint64_t>(whole->low))
      / static_cast<std::uint64_t>(whole->step);
  return last < most_values ? static_cast<std::size_t>(last) + 1 : 0;
}

value nth_value(const parameter& p, std::size_t n) {
  if (const auto* list = std::get_if<choice_domain>(&p.domain))
    return list->options[n];
  const auto& whole = std::get<integer_domain>(p.domain);
  return whole.low + static_cast<std::int64_t>(n) * whole.step;
}

double bell(double x, double mean, double width) {
  const double z = (x - mean) / width;
  return -0.5 * z * z;
}

/// Returns the logarithm of the part of a normal density that lies within [0, 1], times
/// its width.
double log_norm(double mean, double width) {
  const double inside = normal_below((1 - mean) / width) - normal_below(-mean / width);
  return portable_log(inside * width);
}

double scott_width(double points, double dimensions) {
  const double by_rule =
      width_at_one
      * portable_exp(-portable_log(std::max(points, 1.0)) / (dimensions + 4));
  return std::clamp(by_rule, 1 / std::min(100.0, points + 2), 1.0);
}

} // namespace

// Abramowitz and Stegun, 7.1.26.
double normal_below(double x) {
  const double z = std::fabs(x) * 0.70710678118654752;
  const double t = 1 / (1 + 0.3275911 * z);
  const double poly =
      t
      * (0.254829592
         + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  const double tail = 0.5 * poly * portable_exp(-z * z);
  return x > 0 ? 1 - tail : tail;
}

parzen_point point_of(const std::vector<parameter>& parameters,
                      const std::vector<setting>& settings) {
  return to_unit(parameters, settings, absent);
}

parzen_estimator::parzen_estimator(const std::vector<parameter>& parameters,
                                   std::vector<parzen_point> points,
                                   std::vector<double> weights)
    : parameters_(parameters),
      points_(std::move(points)),
      weights_(std::move(weights)) {
  points_.emplace_back(parameters.size(), absent);
  weights_.push_back(prior_weight);
  double sum = 0;
  for (const double w : weights_)
    sum += w;
  for (const double w : weights_)
    log_weights_.push_back(portable_log(w / sum));
  axes_.resize(parameters.size());
  for (std::size_t d = 0; d < axes_.size(); ++d)
    prepare(axes_[d], parameters[d], d);
  for (const auto& point : points_)
    for (std::size_t d = 0; d < axes_.size(); ++d)
      places_.push_back(place_in(axes_[d], point[d]));
}

void parzen_estimator::prepare(axis& a, const parameter& p, std::size_t d) const {
  const auto observed = static_cast<double>(points_.size() - 1);
  a.width = scott_width(observed, static_cast<double>(axes_.size()));
  a.values = count_of_values(p);
  const auto* list = std::get_if<choice_domain>(&p.domain);
  if (list != nullptr && !list->ordered) {
    a.how = axis::kind::unordered;
    const double share = prior_weight / (observed + 1);
    const double sum = share * static_cast<double>(a.values) + 1;
    a.log_same = portable_log((share + 1) / sum);
    a.log_other = portable_log(share / sum);
    a.log_prior = -portable_log(static_cast<double>(a.values));
  } else if (a.values > 0) {
    a.how = axis::kind::ordered;
    for (std::size_t n = 0; n < a.values; ++n)
      a.middles.push_back(to_unit(p, nth_value(p, n)));
    for (std::size_t row = 0; row <= a.values; ++row) {
      const bool prior = row == a.values;
      const double mean = prior ? prior_mean : a.middles[row];
      double sum = 0;
      for (const double x : a.middles)
        sum += portable_exp(bell(x, mean, prior ? prior_width : a.width));
      for (const double x : a.middles)
        a.log_masses.push_back(bell(x, mean, prior ? prior_width : a.width)
                               - portable_log(sum));
    }
  } else {
    for (const auto& point : points_)
      a.log_norms.push_back(point[d] == absent ? log_norm(prior_mean, prior_width)
                                               : log_norm(point[d], a.width));
  }
}

std::size_t parzen_estimator::place_in(const axis& a, double x) {
  if (x == absent || a.how == axis::kind::continuous)
    return a.values;
  if (a.how == axis::kind::unordered)
    return std::min(static_cast<std::size_t>(x * static_cast<double>(a.values)),
                    a.values - 1);
  const auto above = std::ranges::lower_bound(a.middles, x);
  if (above == a.middles.begin())
    return 0;
  const auto n = static_cast<std::size_t>(above - a.middles.begin());
  return n == a.values || x - a.middles[n - 1] < a.middles[n] - x ? n - 1 : n;
}

double parzen_estimator::log_kernel(std::size_t d, std::size_t i,
                                    const coordinate& x) const {
  const auto& a = axes_[d];
  const auto place = places_[i * axes_.size() + d];
  switch (a.how) {
  case axis::kind::unordered:
    if (place == a.values)
      return a.log_prior;
    return x.place == place ? a.log_same : a.log_other;
  case axis::kind::ordered:
    return a.log_masses[place * a.values + x.place];
  case axis::kind::continuous:
    break;
  }
  const double at = points_[i][d];
  const bool prior = at == absent;
  return bell(x.at, prior ? prior_mean : at, prior ? prior_width : a.width)
         - a.log_norms[i];
}

double parzen_estimator::log_density(const parzen_point& x) const {
  std::vector<coordinate> there(axes_.size());
  for (std::size_t d = 0; d < axes_.size(); ++d)
    there[d] = {.at = x[d], .place = place_in(axes_[d], x[d])};
  std::vector<double> logs(points_.size());
  double most = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < points_.size(); ++i) {
    logs[i] = log_weights_[i];
    for (std::size_t d = 0; d < axes_.size(); ++d)
      if (x[d] != absent)
        logs[i] += log_kernel(d, i, there[d]);
    most = std::max(most, logs[i]);
  }
  double sum = 0;
  for (const double one : logs)
    sum += portable_exp(one - most);
  return most + portable_log(sum);
}

double parzen_estimator::draw_from(std::size_t d, std::size_t i,
                                   random_stream& random) const {
  const auto& a = axes_[d];
  const double at = points_[i][d];
  const bool prior = at == absent;
  if (a.how == axis::kind::continuous) {
    for (int n = 0; n < drawing_attempts; ++n) {
      const double x = prior ? prior_mean + prior_width * random.normal()
                             : at + a.width * random.normal();
      if (x >= 0 && x <= 1)
        return x;
    }
    return random.uniform();
  }
  std::vector<double> masses;
  for (std::size_t n = 0; n < a.values; ++n)
    masses.push_back(portable_exp(log_kernel(d, i, {.at = absent, .place = n})));
  const auto drawn = draw_by_weight(masses, random).value_or(0);
  return a.how == axis::kind::ordered
             ? a.middles[drawn]
             : (static_cast<double>(drawn) + 0.5) / static_cast<double>(a.values);
}

std::vector<setting> parzen_estimator::draw(random_stream& random) const {
  const auto i = draw_by_weight(weights_, random).value_or(points_.size() - 1);
  std::vector<setting> settings;
  for (std::size_t d = 0; d < axes_.size(); ++d)
    if (applies(parameters_[d], settings))
      assign(settings, parameters_[d].name,
             from_unit(parameters_[d], draw_from(d, i, random)));
  return settings;
}

} // namespace clade
