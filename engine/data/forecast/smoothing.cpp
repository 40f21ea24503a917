// A model is first given a state by the first seasons, and is then judged by the forecasts
// of one step in the values' own unit. Weights are searched one after the other on a grid,
// in two rounds: the error changes little around its least, and a series has many windows.

#include "engine/data/forecast/smoothing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace clade {
namespace {

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0)
         / static_cast<double>(values.size());
}

/// Values from a point on are judged: those before have made the state.
constexpr std::size_t most_judged = 4'000;

double criterion(const smoothing_model& model, std::span<const double> values) {
  const auto judged = values.last(std::min(values.size(), most_judged));
  smoothing_state state(model, judged);
  double squares = 0;
  for (const double v : judged) {
    const double off = v - state.ahead(1);
    squares += off * off;
    state.add(v);
  }
  const auto n = static_cast<double>(judged.size());
  const double parameters =
      2 + (model.trend ? 3 : 0)
      + (model.seasonal ? 1 + static_cast<double>(model.season) : 0);
  if (!std::isfinite(squares) || n <= parameters + 2)
    return std::numeric_limits<double>::infinity();
  const double tiny = 1e-300;
  return n * std::log(squares / n + tiny) + 2 * parameters * n / (n - parameters - 1);
}

void search(smoothing_model& model, double& best, std::span<const double> values,
            double smoothing_model::*weight, std::span<const double> candidates) {
  const double before = model.*weight;
  double chosen = before;
  for (const double candidate : candidates) {
    if (candidate == before)
      continue;
    model.*weight = candidate;
    if (const double found = criterion(model, values); found < best) {
      best = found;
      chosen = candidate;
    }
  }
  model.*weight = chosen;
}

double search_all(smoothing_model& model, std::span<const double> values) {
  constexpr std::array levels{0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 0.99};
  constexpr std::array trends{0.01, 0.03, 0.1, 0.3};
  constexpr std::array seasons{0.01, 0.05, 0.1, 0.2, 0.4};
  constexpr std::array dampings{0.8, 0.9, 0.95};
  double best = criterion(model, values);
  for (int round = 0; round < 2; ++round) {
    search(model, best, values, &smoothing_model::level_weight, levels);
    if (model.trend) {
      search(model, best, values, &smoothing_model::trend_weight, trends);
      search(model, best, values, &smoothing_model::damping, dampings);
    }
    if (model.seasonal)
      search(model, best, values, &smoothing_model::season_weight, seasons);
  }
  return best;
}

} // namespace

smoothing_state::smoothing_state(const smoothing_model& of,
                                 std::span<const double> values)
    : of_(of) {
  const auto transformed = [&](double v) { return of_.logarithm ? std::log(v) : v; };
  const std::size_t season = of_.seasonal ? of_.season : 1;
  const std::size_t begin = std::min(values.size(), std::max<std::size_t>(season, 5));
  std::vector<double> first;
  for (const double v : values.first(std::min(values.size(), 2 * begin)))
    first.push_back(transformed(v));
  level_ = mean_of(std::span(first).first(begin));
  if (of_.trend && first.size() == 2 * begin)
    trend_ =
        (mean_of(std::span(first).last(begin)) - level_) / static_cast<double>(begin);
  // The mean stands for the middle of the first values.
  level_ -= trend_ * static_cast<double>(begin + 1) / 2;
  if (!of_.seasonal)
    return;
  season_.assign(season, 0);
  std::vector<std::size_t> counts(season, 0);
  for (std::size_t i = 0; i < first.size(); ++i) {
    season_[i % season] += first[i] - level_ - trend_ * static_cast<double>(i + 1);
    ++counts[i % season];
  }
  for (std::size_t p = 0; p < season; ++p)
    season_[p] /= static_cast<double>(std::max<std::size_t>(counts[p], 1));
}

std::size_t smoothing_state::phase(std::size_t steps) const {
  return (next_ + steps - 1) % season_.size();
}

void smoothing_state::add(double value) {
  const double damped = of_.trend ? of_.damping * trend_ : 0;
  const double season = season_.empty() ? 0 : season_[phase(1)];
  const double expected = level_ + damped + season;
  // A value without a logarithm, where all before had one, is taken as it was expected.
  const double v = !of_.logarithm ? value : value > 0 ? std::log(value) : expected;
  const double off = v - expected;
  level_ += damped + of_.level_weight * off;
  if (of_.trend)
    trend_ = damped + of_.level_weight * of_.trend_weight * off;
  if (!season_.empty()) {
    season_[phase(1)] += of_.season_weight * (1 - of_.level_weight) * off;
    next_ = (next_ + 1) % season_.size();
  }
}

double smoothing_state::ahead(std::size_t steps) const {
  double v = level_;
  if (of_.trend) {
    const auto n = static_cast<double>(steps);
    v += trend_ * of_.damping * (1 - std::pow(of_.damping, n)) / (1 - of_.damping);
  }
  if (!season_.empty())
    v += season_[phase(steps)];
  return of_.logarithm ? std::exp(v) : v;
}

double smoothing_state::level() const {
  return of_.logarithm ? std::exp(level_) : level_;
}

smoothing_model fit_smoothing(std::span<const double> values, std::size_t season) {
  const bool positive = std::ranges::all_of(values, [](double v) { return v > 0; });
  // A season is learnt from two of them.
  const bool has_seasons = season > 1 && values.size() >= 2 * season + 3;
  smoothing_model best{.level_weight = 0.3, .season = season};
  double least = search_all(best, values);
  for (const bool logarithm : {false, true})
    for (const bool seasonal : {false, true})
      for (const bool trend : {false, true}) {
        if ((logarithm && !positive) || (seasonal && !has_seasons)
            || (!logarithm && !seasonal && !trend))
          continue;
        smoothing_model model{.trend = trend,
                              .seasonal = seasonal,
                              .logarithm = logarithm,
                              .level_weight = 0.3,
                              .season = season};
        if (const double found = search_all(model, values); found < least) {
          least = found;
          best = model;
        }
      }
  return best;
}

} // namespace clade
