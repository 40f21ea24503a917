#include "engine/data/profile/forecast_profile.hpp"

#include "engine/data/bytes/csv_fields.hpp"
#include "engine/data/bytes/in_quotes.hpp"
#include "engine/data/profile/data_kinds.hpp"
#include "engine/data/tables/csv_head.hpp"
#include "genome/base/text.hpp"
#include "genome/genes/hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

namespace clade {
namespace {

/// Some columns of a table, by the hashes of their fields.
class hashed_rows {
public:
  hashed_rows(std::string_view text, const csv_form& form,
              std::vector<std::size_t> columns, bool names)
      : columns_(std::move(columns)) {
    auto rows = form.rows(text);
    csv_row r;
    if (names)
      (void)rows.next(r);
    while (rows.next(r).value_or(false))
      for (const std::size_t c : columns_)
        hashes_.push_back(c < r.fields.size() ? hash64(r.fields[c]) : 0);
  }

  /// Whether no two rows are alike in all of these, which count from the first of the
  /// columns.
  [[nodiscard]] bool tell_apart(const std::vector<std::size_t>& by) const {
    std::unordered_set<std::uint64_t> seen;
    for (std::size_t row = 0; row * columns_.size() < hashes_.size(); ++row) {
      std::uint64_t all = 0;
      for (const std::size_t c : by)
        all = all * 0x9E3779B97F4A7C15U + hashes_[row * columns_.size() + c];
      if (!seen.insert(all).second)
        return false;
    }
    return true;
  }

private:
  std::vector<std::size_t> columns_;
  std::vector<std::uint64_t> hashes_; ///< [rows, columns]
};

/// The columns of names and numbers of things, the likeliest first.
std::vector<std::size_t> likely_keys(const data_profile& p, std::size_t time) {
  constexpr std::size_t most = 8;
  std::vector<std::size_t> likely;
  for (std::size_t i = 0; i < p.table.columns.size(); ++i) {
    const auto& c = p.table.columns[i];
    const bool names = c.kind == column_kind::category || c.kind == column_kind::text
                       || c.kind == column_kind::identifier
                       || c.kind == column_kind::yes_no
                       || (c.kind == column_kind::number && c.whole);
    if (i != time && p.target_column != i && names && c.blanks == 0)
      likely.push_back(i);
  }
  // Texts and identifiers before whole numbers, and few values before many.
  std::ranges::stable_sort(likely, {}, [&](std::size_t i) {
    const auto& c = p.table.columns[i];
    return std::pair(c.kind == column_kind::number, c.distinct);
  });
  likely.resize(std::min(likely.size(), most));
  return likely;
}

/// The fewest columns that, with the time, tell rows apart.
std::optional<std::vector<std::size_t>> guess_series(const data_profile& p,
                                                     std::size_t time,
                                                     std::string_view text,
                                                     const csv_form& form) {
  const auto likely = likely_keys(p, time);
  auto columns = likely;
  columns.insert(columns.begin(), time);
  const hashed_rows rows(text, form, columns, p.header == "names");
  if (rows.tell_apart({0}))
    return std::vector<std::size_t>{};
  for (std::size_t a = 1; a < columns.size(); ++a)
    if (rows.tell_apart({0, a}))
      return std::vector{columns[a]};
  for (std::size_t a = 1; a < columns.size(); ++a)
    for (std::size_t b = a + 1; b < columns.size(); ++b)
      if (rows.tell_apart({0, a, b}))
        return std::vector{columns[a], columns[b]};
  return std::nullopt;
}

/// The distance at which the changes of values are most alike, in the mean over series.
std::int64_t strongest_season(const history& from) {
  constexpr std::size_t most_lag = 400, least_seasons = 3, most_series = 50;
  constexpr double clear = 0.4;
  std::vector<double> alike(most_lag + 1, 0), counts(most_lag + 1, 0);
  for (const auto& series :
       std::span(from.series).first(std::min(from.series.size(), most_series))) {
    std::vector<double> changes;
    for (std::size_t i = 1; i < series.values.size(); ++i) {
      const double d = series.values[i] - series.values[i - 1];
      changes.push_back(std::isnan(d) ? 0 : d);
    }
    double squares = 0;
    for (const double d : changes)
      squares += d * d;
    if (!(squares > 0))
      continue;
    for (std::size_t lag = 2; lag <= most_lag && lag * least_seasons < changes.size();
         ++lag) {
      double sum = 0;
      for (std::size_t i = lag; i < changes.size(); ++i)
        sum += changes[i] * changes[i - lag];
      alike[lag] += sum / squares;
      counts[lag] += 1;
    }
  }
  std::size_t best = 1;
  double most = clear;
  for (std::size_t lag = 2; lag <= most_lag; ++lag)
    if (counts[lag] > 0 && alike[lag] / counts[lag] > most) {
      most = alike[lag] / counts[lag];
      best = lag;
    }
  return static_cast<std::int64_t>(best);
}

/// The columns that have values where the last rows of series have no target.
std::vector<std::string> guess_known(const history& from) {
  std::vector<std::string> known;
  for (std::size_t c = 0; c < from.covariates.size(); ++c)
    if (std::ranges::any_of(from.series, [&](const series_history& series) {
          const auto& fields = series.fields[c];
          return std::any_of(
              fields.begin() + static_cast<std::ptrdiff_t>(series.values.size()),
              fields.end(), [](const std::string& field) { return !field.empty(); });
        }))
      known.push_back(from.covariates[c].name);
  return known;
}

/// The kinds of the columns as an experiment will have them.
std::vector<column_choice> kinds_of(const data_profile& p) {
  std::vector<column_choice> kinds;
  for (std::size_t i = 0; i < p.table.columns.size(); ++i) {
    if (p.target_column == i)
      continue;
    const auto use = use_of(p.table.columns[i]);
    const auto kind = use.ignored == ignore_reason::none
                          ? parse_encoding_kind(to_text(use.as))
                          : std::optional(encoding_kind::ignore);
    kinds.push_back({p.label(i), kind.value_or(encoding_kind::ignore)});
  }
  return kinds;
}

} // namespace

std::string guess_time(const data_profile& p) {
  constexpr std::array<std::string_view, 6> names{"ds",        "date", "time",
                                                  "timestamp", "step", "t"};
  for (std::size_t i = 0; i < p.table.columns.size(); ++i)
    if (p.target_column != i && p.table.columns[i].kind == column_kind::date)
      return p.label(i);
  for (std::size_t i = 0; i < p.table.columns.size(); ++i)
    if (p.target_column != i && std::ranges::any_of(names, [&](std::string_view name) {
          return equal_in_any_case(name, p.table.columns[i].name);
        }))
      return p.label(i);
  return {};
}

std::vector<std::string> forecast_notes(const history& from, const window_table& windows,
                                        const forecast_params& params) {
  std::size_t shortest = from.series.front().values.size(), longest = shortest;
  for (const auto& series : from.series) {
    shortest = std::min(shortest, series.values.size());
    longest = std::max(longest, series.values.size());
  }
  std::vector<std::string> notes;
  notes.push_back(fmt::format(
      "{} of {} steps, {}, a season is {}; the next {} are forecast",
      counted(from.series.size(), "series", "series"),
      shortest == longest
          ? with_commas(longest)
          : fmt::format("{} to {}", with_commas(shortest), with_commas(longest)),
      from.grid.step_text(), counted(static_cast<std::uint64_t>(from.season), "step"),
      params.horizon));
  notes.push_back(
      fmt::format("on the test part the value one season before has a MASE of "
                  "{:.3f}, exponential smoothing {:.3f}",
                  windows.naive_error, windows.smoothing_error));
  if (windows.too_short > 0)
    notes.push_back(fmt::format("{} too short to learn from",
                                counted(windows.too_short, "series is", "series are")));
  return notes;
}

expected<void> profile_forecast(data_profile& p, std::string_view text,
                                const data_params& said) {
  const std::string origin = p.file.string();
  auto params = said;
  auto& forecast = p.forecast;
  params.target = p.label(*p.target_column);
  params.targets = p.target_labels();
  params.task = regression;
  params.columns = kinds_of(p);
  if (forecast.time.empty())
    forecast.time = guess_time(p);
  const auto form = find_form(text, params);
  const auto number_of = [&](const std::string& label) {
    for (std::size_t i = 0; i < p.table.columns.size(); ++i)
      if (p.label(i) == label || p.table.columns[i].name == label)
        return i;
    return numbered_column(label, p.table.columns.size()).value_or(0);
  };
  if (forecast.series.empty() && !forecast.time.empty()) {
    const auto found = guess_series(p, number_of(forecast.time), text, form);
    if (!found)
      return fail_in(origin,
                     {error_kind::invalid_input,
                      fmt::format("several rows have the same time, and no two columns "
                                  "tell their series apart; name those that do with "
                                  "--series, or another column of times than {} with "
                                  "--time",
                                  in_quotes(forecast.time))});
    for (const std::size_t column : *found)
      forecast.series.push_back(p.label(column));
  }
  params.forecast = forecast;
  auto from = read_history(text, origin, params);
  if (!from)
    return tl::unexpected(std::move(from).error());
  if (forecast.known.empty())
    forecast.known = guess_known(*from);
  if (forecast.season == 0)
    forecast.season = static_cast<std::uint64_t>(
        from->season > 1 ? from->season : strongest_season(*from));
  params.forecast = forecast;
  from->season = static_cast<std::int64_t>(forecast.season);
  for (auto& c : from->covariates)
    c.known = std::ranges::count(forecast.known, c.name) > 0;
  const auto windows = training_windows(*from, params);
  if (!windows)
    return fail_in(origin, windows.error());
  for (std::string& note : forecast_notes(*from, *windows, forecast))
    p.note(std::move(note));
  p.shape.sizes = {static_cast<std::int64_t>(windows->inputs)};
  p.windows = windows->parts.size();
  p.task = regression;
  p.split = split_kind::by_steps;
  return {};
}

} // namespace clade
