#include "engine/data/forecast/window_table.hpp"

#include "engine/data/bytes/csv_fields.hpp"
#include "engine/data/forecast/series_windows.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace clade {
namespace {

/// About so many windows to train on, and to judge by in each of the other parts.
constexpr std::size_t most_to_train = 120'000, most_to_judge = 10'000;
/// So many values of the validation part tell models apart.
constexpr std::size_t enough_to_judge = 2'000;
/// No part is judged by windows of more origins in one series.
constexpr std::size_t most_origins = 100;
/// Smoothing is fitted anew when there are as many times as many steps.
constexpr double refit_growth = 1.15;
/// So many series have a forecast that is drawn, with so many values before it at most.
constexpr std::size_t most_drawn = 6, most_past = 96;

/// The values before a forecast that are drawn: three times as many as it has steps, or two
/// seasons.
std::size_t past_steps(const history& from, std::size_t horizon) {
  constexpr std::size_t least = 12;
  return std::clamp(std::max(3 * horizon, 2 * static_cast<std::size_t>(from.season)),
                    least, most_past);
}

/// The first step of each part behind the training part, and the end.
struct series_parts {
  std::size_t validation = 0, test = 0, end = 0;
};

/// The fewest steps that a window looks back on.
std::size_t least_history(const history& from) {
  return std::max<std::size_t>(static_cast<std::size_t>(from.season), 2);
}

/// Parts of a series: no more than the shares say, and no more horizons than all series
/// together take to have enough values that tell models apart. Later values are the best to
/// learn from. Nothing where the series is too short.
std::optional<series_parts> parts_of(const history& from, const series_history& series,
                                     const data_params& params) {
  const std::size_t n = series.values.size();
  const std::size_t horizon = params.forecast.horizon;
  const std::size_t least = least_history(from) + 3 * horizon;
  if (n < least)
    return std::nullopt;
  const double sum = params.train + params.validation + params.test;
  // Steps beyond one horizon for each part are shared.
  const std::size_t of_all = horizon * from.series.size();
  const std::size_t enough = horizon * ((enough_to_judge + of_all - 1) / of_all);
  const auto share = [&](double of) {
    return std::max(horizon,
                    std::min({static_cast<std::size_t>(of / sum * static_cast<double>(n)),
                              horizon + (n - least) / 3, enough}));
  };
  const std::size_t test = n - share(params.test);
  return series_parts{test - share(params.validation), test, n};
}

/// Calls `use` with at most `most` origins from `first` to `last`, evenly spaced, the last
/// among them.
template<class Use>
void for_origins(std::size_t first, std::size_t last, std::size_t most, Use use) {
  const std::size_t all = last - first + 1;
  const std::size_t count = std::clamp<std::size_t>(most, 1, all);
  for (std::size_t i = 1; i <= count; ++i)
    use(first + i * all / count - 1);
}

std::vector<std::string> names_of_labels(const history& from) {
  auto names = from.keys;
  names.push_back(from.time.empty() ? "step" : from.time);
  return names;
}

class window_writer {
public:
  window_writer(const history& from, const data_params& params,
                std::span<const std::string> learnt = {})
      : from_(from),
        params_(params),
        columns_(columns_of_windows(from, learnt)),
        text_(std::uint64_t{4} << 30) {
    out_.kinds = columns_.kinds;
    out_.inputs = columns_.names.size();
    out_.names = names_of_labels(from);
  }

  expected<window_table> for_training() {
    std::vector<std::pair<const series_history*, series_parts>> used;
    for (const auto& series : from_.series)
      if (const auto parts = parts_of(from_, series, params_))
        used.emplace_back(&series, *parts);
      else
        ++out_.too_short;
    if (used.empty())
      return too_short();
    auto names = columns_.names;
    names.emplace_back(window_target);
    if (auto written = text_.names(names); !written)
      return tl::unexpected(std::move(written).error());
    const std::size_t windows = used.size() * params_.forecast.horizon;
    const std::size_t to_judge =
        std::clamp<std::size_t>(most_to_judge / windows, 1, most_origins);
    std::size_t number = 0;
    for (const auto& [series, parts] : used) {
      series_windows of_one(from_, *series, columns_, parts.validation);
      const std::size_t first = least_history(from_) - 1,
                        horizon = params_.forecast.horizon;
      add_part(of_one, *series, window_part::train, first, parts.validation - horizon - 1,
               most_to_train / windows);
      add_part(of_one, *series, window_part::validation, parts.validation - 1,
               parts.test - horizon - 1, to_judge);
      add_part(of_one, *series, window_part::test, parts.test - 1,
               parts.end - horizon - 1, to_judge);
      const auto drawn_before = number * most_drawn / used.size();
      if (++number * most_drawn / used.size() > drawn_before)
        draw_last(*series, parts.end - horizon - 1);
    }
    if (failed_)
      return tl::unexpected(std::move(*failed_));
    const auto mean = [&](double sum) {
      return tested_ > 0 ? sum / static_cast<double>(tested_) : 0;
    };
    out_.naive_error = mean(naive_);
    out_.smoothing_error = mean(smoothing_);
    out_.text = text_.take();
    return std::move(out_);
  }

  /// `whole` are the same series with the steps that were held back, if any were.
  expected<window_table> for_forecasts(const history* whole) {
    if (auto written = text_.names(columns_.names); !written)
      return tl::unexpected(std::move(written).error());
    for (std::size_t s = 0; s < from_.series.size(); ++s) {
      const auto& series = from_.series[s];
      if (series.values.size() < 2) {
        ++out_.too_short;
        continue;
      }
      const std::size_t last = series.values.size() - 1;
      series_windows of_one(from_, series, columns_, last + 1);
      of_one.refit(last + 1);
      of_one.move_to(last);
      for (std::size_t ahead = 1; ahead <= params_.forecast.horizon && !failed_;
           ++ahead) {
        of_one.write(ahead, text_);
        end_row();
        auto labels = series.key;
        labels.push_back(
            from_.grid.text(series.first + static_cast<std::int64_t>(last + ahead)));
        out_.rows.push_back({.labels = std::move(labels),
                             .ahead = static_cast<std::uint32_t>(ahead),
                             .offset = of_one.offset(ahead),
                             .scale = of_one.scale()});
        const auto& held = whole != nullptr ? whole->series[s] : series;
        out_.lines.push_back(held.lines[std::min(last + ahead, held.lines.size() - 1)]);
        if (whole != nullptr)
          out_.held.push_back((held.values[last + ahead] - of_one.offset(ahead))
                              / of_one.scale());
      }
    }
    if (out_.rows.empty())
      return whole != nullptr ? nothing_before() : too_short();
    if (failed_)
      return tl::unexpected(std::move(*failed_));
    out_.text = text_.take();
    return std::move(out_);
  }

private:
  /// The first windows of a part count from smoothing that so many steps decide.
  std::size_t early_fit(std::size_t last) const {
    constexpr double share = 0.3;
    const auto steps = static_cast<std::size_t>(share * static_cast<double>(last + 1));
    return std::min(last + 1, std::max(steps, 2 * least_history(from_) + 2));
  }

  // The form of the smoothing that fits best changes as steps come. Models learn what there
  // is to correct of each as it would have been chosen then, since they are asked of forms
  // that all steps so far have decided.
  void add_part(series_windows& of_one, const series_history& series, window_part part,
                std::size_t first, std::size_t last, std::size_t most) {
    std::size_t fitted =
        std::max(first + 1, part == window_part::train ? early_fit(last) : 0);
    of_one.refit(fitted);
    for_origins(first, last, most, [&](std::size_t origin) {
      if (static_cast<double>(origin + 1) >= refit_growth * static_cast<double>(fitted)) {
        fitted = origin + 1;
        of_one.refit(fitted);
      }
      of_one.move_to(origin);
      last_begins_ = out_.steps.ahead.size();
      for (std::size_t ahead = 1; ahead <= params_.forecast.horizon && !failed_;
           ++ahead) {
        const double value = series.values[origin + ahead];
        // Nothing is learnt of a gap, nor of a value beyond all that the series had.
        const double target = (value - of_one.offset(ahead)) / of_one.scale();
        if (!is_finite_float(target))
          continue;
        of_one.write(ahead, text_);
        text_.field(std::string_view(fmt::format("{:.9g}", target)));
        end_row();
        out_.parts.push_back(part);
        out_.lines.push_back(series.lines[origin + ahead]);
        auto& steps = out_.steps;
        steps.ahead.push_back(static_cast<std::uint32_t>(ahead));
        steps.offset.push_back(of_one.offset(ahead));
        steps.scale.push_back(of_one.scale());
        steps.naive.push_back(of_one.naive(ahead));
        if (part == window_part::test) {
          ++tested_;
          naive_ += std::abs(target - of_one.naive(ahead));
          smoothing_ += std::abs(target);
        }
      }
    });
  }

  /// Keeps what is drawn of the forecast that was written last, from this step on.
  void draw_last(const series_history& series, std::size_t origin) {
    const auto time = [&](std::size_t step) {
      return from_.grid.text(series.first + static_cast<std::int64_t>(step));
    };
    const auto count = out_.steps.ahead.size() - last_begins_;
    if (count == 0)
      return;
    const auto begin =
        origin + 1 - std::min(origin + 1, past_steps(from_, params_.forecast.horizon));
    const auto& values = series.values;
    out_.steps.drawn.push_back(
        {.series = series.key,
         .from = time(begin),
         .origin = time(origin),
         .to = time(origin + params_.forecast.horizon),
         .past = {values.begin() + static_cast<std::ptrdiff_t>(begin),
                  values.begin() + static_cast<std::ptrdiff_t>(origin + 1)},
         .first = static_cast<std::uint32_t>(last_begins_),
         .count = static_cast<std::uint32_t>(count)});
  }

  void end_row() {
    if (auto ended = text_.end_row(); !ended)
      failed_ = std::move(ended).error();
  }

  tl::unexpected<error> nothing_before() const {
    return fail(error_kind::invalid_input,
                fmt::format("no series has two steps before the last {}, with which "
                            "forecasts would be compared",
                            params_.forecast.horizon));
  }

  tl::unexpected<error> too_short() const {
    std::size_t longest = 0;
    for (const auto& series : from_.series)
      longest = std::max(longest, series.values.size());
    return fail(error_kind::invalid_input,
                fmt::format("the longest series has {}, where horizon = {} and season = "
                            "{} take {}: one horizon for validation, one for the test, "
                            "and both before them; make the horizon shorter",
                            counted(longest, "step"), params_.forecast.horizon,
                            from_.season,
                            least_history(from_) + 3 * params_.forecast.horizon));
  }

  const history& from_;
  const data_params& params_;
  window_columns columns_;
  table_text text_;
  window_table out_;
  std::optional<error> failed_;
  std::size_t last_begins_ = 0; ///< The first window of the forecast written last.
  std::uint64_t tested_ = 0;
  double naive_ = 0, smoothing_ = 0;
};

} // namespace

expected<window_table> training_windows(const history& from, const data_params& params) {
  return window_writer(from, params).for_training();
}

data_params params_of(const window_table& windows) {
  return {.target = std::string(window_target),
          .header = "line 1",
          .task = regression,
          .columns = windows.kinds,
          .delimiter = ",",
          .decimal = ".",
          .encoding = "utf-8"};
}

expected<window_table> new_windows(const history& from, const data_params& params,
                                   std::span<const std::string> learnt) {
  if (!params.forecast.hold_back)
    return window_writer(from, params, learnt).for_forecasts(nullptr);
  history before = from;
  for (auto& series : before.series) {
    const auto kept =
        series.values.size()
        - std::min<std::size_t>(series.values.size(), params.forecast.horizon);
    series.values.resize(kept);
    series.lines.resize(kept);
  }
  return window_writer(before, params, learnt).for_forecasts(&from);
}

} // namespace clade
