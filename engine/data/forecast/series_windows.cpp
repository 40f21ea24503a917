#include "engine/data/forecast/series_windows.hpp"

#include "engine/data/bytes/csv_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <span>

namespace clade {
namespace {

// Levels are told by their distance from other levels, of the series or of a covariate: a
// level that training has not seen would be answered by whatever is nearest to it.

/// So many of the last values are columns.
constexpr std::size_t recent = 8;
/// A season's means need so many steps where there is no season.
constexpr std::size_t short_mean = 8;
/// A key of more values than these is no column: networks learn from what series have in
/// common.
constexpr std::size_t most_keys = 64;

/// The steps before the forecast's season at whose values it looks, too.
constexpr std::size_t seasons_back = 3;

std::size_t mean_steps(std::size_t season) {
  return season > 1 ? season : short_mean;
}

/// A gap is filled by the value one season before it, or the last one.
std::vector<double> without_gaps(const std::vector<double>& values, std::size_t season) {
  std::vector<double> out = values;
  const auto first = std::ranges::find_if(out, [](double v) { return !std::isnan(v); });
  std::fill(out.begin(), first, first == out.end() ? 0 : *first);
  for (std::size_t i = 0; i < out.size(); ++i)
    if (std::isnan(out[i]))
      out[i] = i >= season ? out[i - season] : out[i - 1];
  return out;
}

/// The mean absolute error of the seasonal naive forecast, or of that of one step; or, where
/// a series never changes, its size.
double naive_scale(const series_history& series, std::size_t season, std::size_t fitted) {
  for (const std::size_t lag : {season, std::size_t{1}}) {
    double sum = 0;
    std::size_t count = 0;
    for (std::size_t i = lag; i < fitted; ++i)
      if (const double off = std::abs(series.values[i] - series.values[i - lag]);
          !std::isnan(off)) {
        sum += off;
        ++count;
      }
    if (sum > 0)
      return sum / static_cast<double>(count);
  }
  double largest = 0;
  for (const double v : series.values)
    if (!std::isnan(v))
      largest = std::max(largest, std::abs(v));
  return largest > 0 ? largest : 1;
}

/// The deviation of the numbers among fields; 1 where they are all the same.
double deviation_of(std::span<const std::string> fields) {
  double sum = 0, squares = 0, count = 0;
  for (const auto& text : fields)
    if (const auto n = field_number(text)) {
      sum += *n;
      ++count;
    }
  for (const auto& text : fields)
    if (const auto n = field_number(text))
      squares += (*n - sum / count) * (*n - sum / count);
  return squares > 0 ? std::sqrt(squares / count) : 1;
}

void number(table_text& out, double v) {
  if (is_finite_float(v))
    out.field(std::string_view(fmt::format("{:.7g}", v)));
  else
    out.blank();
}

/// Whether the first steps of a series, those of its training part at the least, are of all
/// months.
bool knows_all_months(const history& from) {
  constexpr double share = 0.6;
  for (const auto& series : from.series) {
    std::set<int> seen;
    const auto steps =
        static_cast<std::int64_t>(share * static_cast<double>(series.values.size()));
    for (std::int64_t i = 0; i < steps && seen.size() < 12; ++i)
      seen.insert(static_cast<int>(from.grid.parts(series.first + i).month));
    if (seen.size() == 12)
      return true;
  }
  return false;
}

} // namespace

window_columns columns_of_windows(const history& from,
                                  std::span<const std::string> learnt) {
  const auto knows = [&](const std::string& name) {
    return std::ranges::find(learnt, name) != learnt.end();
  };
  window_columns out;
  const auto category = [&](const std::string& name) {
    out.names.push_back(name);
    out.kinds.push_back({name, encoding_kind::category});
  };
  for (std::size_t k = 0; k < from.keys.size(); ++k) {
    std::set<std::string_view> values;
    for (const auto& series : from.series)
      if (values.size() <= most_keys)
        values.insert(series.key[k]);
    out.keys.push_back(learnt.empty() ? values.size() > 1 && values.size() <= most_keys
                                      : knows(from.keys[k]));
    if (out.keys.back())
      category(from.keys[k]);
  }
  const auto parts = from.grid.parts(0);
  const bool within_year = from.grid.of != time_grid::unit::month || from.grid.step < 12;
  out.month = parts.month > 0 && within_year
              && (learnt.empty() ? knows_all_months(from) : knows("month"));
  if (out.month)
    category("month");
  if (parts.weekday)
    category("weekday");
  if (parts.hour)
    category("hour");
  out.names.emplace_back("steps ahead");
  for (std::size_t i = 0; i < recent; ++i)
    out.names.push_back(fmt::format("lag {}", i));
  if (from.season > 1)
    for (std::size_t i = 1; i <= seasons_back; ++i)
      out.names.push_back(fmt::format("season {}", i));
  for (const char* name :
       {"before", "after", "mean", "mean before", "long mean", "longest mean",
        "deviation", "growth", "drift", "naive", "level"})
    out.names.emplace_back(name);
  for (const covariate& c : from.covariates) {
    if (c.known)
      c.numbers ? out.names.push_back(c.name) : category(c.name);
    if (!c.numbers)
      category(c.name + " at last");
    else
      for (const char* name : {" changed", " changed lately"})
        out.names.push_back(c.name + name);
  }
  return out;
}

series_windows::series_windows(const history& from, const series_history& series,
                               const window_columns& columns, std::size_t fitted)
    : from_(from),
      series_(series),
      columns_(columns),
      season_(static_cast<std::size_t>(from.season)),
      filled_(without_gaps(series.values, season_)),
      scale_(naive_scale(series, season_, fitted)) {
  sums_.push_back(0);
  errors_.push_back(0);
  for (std::size_t i = 0; i < filled_.size(); ++i) {
    sums_.push_back(sums_.back() + filled_[i]);
    const double off = i < season_ ? scale_ : std::abs(filled_[i] - filled_[i - season_]);
    errors_.push_back(errors_.back() + off);
  }
  for (std::size_t c = 0; c < from.covariates.size(); ++c) {
    auto& steps = covariates_.emplace_back();
    std::size_t last = 0, count = 0;
    double sum = 0;
    for (std::size_t i = 0; i < filled_.size(); ++i) {
      const std::string& text = series.fields[c][i];
      steps.sums.push_back(sum);
      steps.counts.push_back(count);
      if (!text.empty())
        last = i;
      if (const auto n = field_number(text); n && from.covariates[c].numbers) {
        sum += *n;
        ++count;
      }
      steps.last.push_back(last);
    }
    steps.sums.push_back(sum);
    steps.counts.push_back(count);
    steps.scale = deviation_of(std::span(series.fields[c]).first(fitted));
  }
}

void series_windows::refit(std::size_t fitted) {
  const auto values = std::span(filled_).first(fitted);
  model_ = fit_smoothing(values, season_);
  state_.emplace(model_, values);
  taken_ = 0;
}

void series_windows::move_to(std::size_t origin) {
  origin_ = origin;
  for (; taken_ <= origin; ++taken_)
    state_->add(value(taken_));
}

/// The value so many steps before the origin, or the first.
double series_windows::back(std::size_t steps) const {
  return value(steps <= origin_ ? origin_ - steps : 0);
}

/// How many steps before the origin the last one of the same season is.
std::size_t series_windows::season_before(std::size_t ahead) const {
  const std::size_t seasons = (ahead + season_ - 1) / season_;
  return seasons * season_ - ahead;
}

double series_windows::scale() const {
  const std::size_t end = origin_ + 1;
  const std::size_t begin = end - std::min(end, std::max<std::size_t>(4 * season_, 32));
  const double recently =
      (errors_[end] - errors_[begin]) / static_cast<double>(end - begin);
  return std::clamp(recently, scale_ / 4, 4 * scale_);
}

double series_windows::offset(std::size_t ahead) const {
  const double smoothed = state_->ahead(ahead);
  return is_finite_float(smoothed) ? smoothed : back(season_before(ahead));
}

double series_windows::naive(std::size_t ahead) const {
  return (back(season_before(ahead)) - offset(ahead)) / scale();
}

/// The mean of so many steps, the last of which is `from` steps before the origin.
double series_windows::mean(std::size_t from, std::size_t steps) const {
  const std::size_t end = from <= origin_ ? origin_ - from + 1 : 1;
  const std::size_t begin = end > steps ? end - steps : 0;
  return (sums_[end] - sums_[begin]) / static_cast<double>(end - begin);
}

void series_windows::write_lags(std::size_t ahead, table_text& out) const {
  const double zero = offset(ahead), unit = scale();
  const auto scaled = [&](double v) { number(out, (v - zero) / unit); };
  for (std::size_t i = 0; i < recent; ++i)
    scaled(back(i));
  const std::size_t known = season_before(ahead);
  for (std::size_t i = 1; season_ > 1 && i <= seasons_back; ++i) {
    const std::size_t before = known + i * season_;
    before <= origin_ ? scaled(value(origin_ - before)) : out.blank();
  }
  scaled(back(known + 1));
  scaled(back(known > 0 ? known - 1 : 0));
  const std::size_t steps = mean_steps(season_);
  const double last = mean(0, steps), earlier = mean(steps, steps);
  scaled(last);
  scaled(earlier);
  scaled(mean(0, 4 * steps));
  scaled(mean(0, 16 * steps));
  double squares = 0;
  for (std::size_t i = 0; i < recent; ++i)
    squares += (back(i) - last) * (back(i) - last);
  number(out, std::sqrt(squares / recent) / unit);
  number(out, (value(origin_) - back(season_)) / unit);
  const double drift = (value(origin_) - value(0))
                       / static_cast<double>(std::max<std::size_t>(origin_, 1));
  scaled(value(origin_) + drift * static_cast<double>(ahead));
  number(out, naive(ahead));
  scaled(state_->level());
}

void series_windows::write_covariates(std::size_t ahead, table_text& out) const {
  for (std::size_t c = 0; c < from_.covariates.size(); ++c) {
    const auto& fields = series_.fields[c];
    const auto field = [&](const std::string& text) {
      text.empty() ? out.blank() : out.field(std::string_view(text));
    };
    if (from_.covariates[c].known) {
      const std::size_t step = origin_ + ahead;
      step < fields.size() ? field(fields[step]) : out.blank();
    }
    const auto& steps = covariates_[c];
    if (!from_.covariates[c].numbers) {
      field(fields[steps.last[origin_]]);
      continue;
    }
    const auto mean_of = [&](std::size_t count) {
      const std::size_t end = origin_ + 1, begin = end - std::min(end, count);
      return (steps.sums[end] - steps.sums[begin])
             / static_cast<double>(steps.counts[end] - steps.counts[begin]);
    };
    const std::size_t season = mean_steps(season_);
    number(out, (mean_of(season) - mean_of(16 * season)) / steps.scale);
    number(out, (mean_of(1) - mean_of(season)) / steps.scale);
  }
}

void series_windows::write(std::size_t ahead, table_text& out) const {
  for (std::size_t k = 0; k < columns_.keys.size(); ++k)
    if (columns_.keys[k])
      out.field(std::string_view(series_.key[k]));
  const auto at =
      from_.grid.parts(series_.first + static_cast<std::int64_t>(origin_ + ahead));
  if (columns_.month)
    out.field(std::string_view(fmt::format("month {}", at.month)));
  if (at.weekday)
    out.field(std::string_view(fmt::format("day {}", *at.weekday)));
  if (at.hour)
    out.field(std::string_view(fmt::format("hour {}", *at.hour)));
  number(out, static_cast<double>(ahead));
  write_lags(ahead, out);
  write_covariates(ahead, out);
}

} // namespace clade
