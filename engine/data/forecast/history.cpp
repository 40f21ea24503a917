// Rows are read into records first; when all were read, the order of dates is known, and
// from the times of all series the grid. Then each series is laid out on it.

#include "engine/data/forecast/history.hpp"

#include "engine/data/bytes/complaints.hpp"
#include "engine/data/bytes/csv_fields.hpp"
#include "engine/data/bytes/in_quotes.hpp"
#include "engine/data/columns/csv_form.hpp"
#include "engine/data/forecast/row_times.hpp"
#include "engine/data/forecast/series_keys.hpp"
#include "engine/data/tables/csv_head.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

namespace clade {
namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();
/// A table may leave out so many steps for each that it has, and some more.
constexpr std::size_t most_gaps = 20, free_gaps = 1'000;

struct record {
  std::uint64_t line = 0;
  std::uint32_t series = 0;
  double time = 0, value = missing;
};

class history_reader {
public:
  history_reader(std::string_view text, std::string_view origin,
                 const data_params& params)
      : params_(params),
        form_(find_form(text, params)),
        rows_(form_.rows(text)),
        wrong_(std::string(origin)),
        origin_(origin),
        times_(form_.decimal) {}

  expected<history> read() {
    csv_row r;
    auto head = read_head(rows_, r, origin_, params_, form_);
    if (!head)
      return tl::unexpected(std::move(head).error());
    head_ = std::move(*head);
    if (auto found = find_columns(); !found)
      return tl::unexpected(std::move(found).error());
    if (auto all =
            for_each_row(rows_, r, head_, [&](const csv_row& row) { read_row(row); });
        !all)
      return tl::unexpected(std::move(all).error());
    if (wrong_.empty())
      read_times();
    if (wrong_.empty())
      lay_out();
    if (!wrong_.empty())
      return wrong_.take();
    if (out_.series.empty())
      return head_.wrong(head_.line, "no row has a value of the target");
    return std::move(out_);
  }

private:
  expected<void> find_columns() {
    auto targets = head_.find_targets(params_);
    if (!targets)
      return tl::unexpected(targets.error());
    targets_ = std::move(*targets);
    out_.target = is_wide() ? "value" : head_.name(targets_.front());
    auto used = targets_;
    if (!params_.forecast.time.empty()) {
      const auto time = head_.find_column(params_.forecast.time, "column of times");
      if (!time)
        return tl::unexpected(time.error());
      time_ = *time;
      out_.time = head_.name(*time_);
      used.push_back(*time_);
    }
    if (auto found = series_.find(head_, params_.forecast.series); !found)
      return found;
    out_.keys = series_.names();
    if (is_wide())
      out_.keys.emplace_back("series");
    used.insert(used.end(), series_.columns().begin(), series_.columns().end());
    std::ranges::sort(used);
    if (const auto twice = std::ranges::adjacent_find(used); twice != used.end())
      return head_.wrong(head_.line,
                         fmt::format("{} is named twice, as target, time or series",
                                     head_.column(*twice)));
    return find_covariates(used);
  }

  expected<void> find_covariates(const std::vector<std::size_t>& used) {
    std::vector<encoding_kind> kinds(head_.columns, encoding_kind::number);
    std::vector<bool> known(head_.columns, false);
    auto choices = params_.columns;
    for (const std::string& name : params_.categories)
      choices.push_back({name, encoding_kind::category});
    for (const std::string& name : params_.ignore)
      choices.push_back({name, encoding_kind::ignore});
    for (const column_choice& c : choices) {
      const auto at = head_.find_column(c.column, std::string(to_text(c.kind)));
      if (!at)
        return tl::unexpected(at.error());
      kinds[*at] = c.kind;
    }
    for (const std::string& name : params_.forecast.known) {
      const auto at = head_.find_column(name, "column known ahead");
      if (!at)
        return tl::unexpected(at.error());
      known[*at] = true;
    }
    for (std::size_t i = 0; i < head_.columns; ++i) {
      const bool left_out = kinds[i] == encoding_kind::ignore
                            || kinds[i] == encoding_kind::date
                            || kinds[i] == encoding_kind::text;
      if (std::ranges::binary_search(used, i) || left_out)
        continue;
      covariates_.push_back(i);
      out_.covariates.push_back({.name = head_.name(i),
                                 .numbers = kinds[i] == encoding_kind::number,
                                 .known = known[i]});
    }
    return {};
  }

  void read_row(const csv_row& r) {
    if (r.fields.size() != head_.columns)
      return wrong_.add(r.line, table_complaints::of::length, head_.columns,
                        head_.other_length(r.fields.size()));
    for (const std::size_t target : targets_) {
      const auto series =
          is_wide() ? series_.series_of(r, head_.name(target)) : series_.series_of(r);
      records_.push_back(
          {.line = r.line, .series = series, .value = value_of(r, target)});
      if (time_)
        times_.add(r.fields[*time_]);
      for (std::size_t c = 0; c < covariates_.size(); ++c)
        fields_.push_back(covariate_field(r, c));
    }
  }

  /// Whether each row has a value of several series.
  bool is_wide() const { return targets_.size() > 1; }

  double value_of(const csv_row& r, std::size_t target) {
    const std::string_view field = r.fields[target];
    if (field_blank_number(field))
      return missing;
    const auto n = field_number(field, form_.number(target));
    if (n && is_finite_float(*n))
      return *n;
    wrong_.add(r.line, table_complaints::of::target, target,
               fmt::format("{} is {}, where {} must be", head_.column(target),
                           in_quotes(field), number_words(form_.number(target))));
    return missing;
  }

  /// A number as programs write it, or the text of a category.
  std::string covariate_field(const csv_row& r, std::size_t c) {
    const std::size_t column = covariates_[c];
    const std::string_view field = r.fields[column];
    if (!out_.covariates[c].numbers)
      return std::string(field);
    if (field_blank_number(field))
      return {};
    const auto n = field_number(field, form_.number(column));
    if (n && is_finite_float(*n))
      return fmt::format("{}", *n);
    wrong_.add(r.line, table_complaints::of::number, column,
               fmt::format("{} is {}, where {} must be; if the column holds categories, "
                           "say categories = [{}], and to leave it out, ignore = [{}]",
                           head_.column(column), in_quotes(field),
                           number_words(form_.number(column)),
                           in_quotes(head_.name(column)), in_quotes(head_.name(column))));
    return {};
  }

  void read_times() {
    if (!time_) {
      std::vector<std::uint32_t> next(series_.count(), 0);
      for (record& one : records_)
        one.time = next[one.series]++;
      return;
    }
    for (std::size_t i = 0; i < records_.size(); ++i)
      if (const auto time = times_.time(i))
        records_[i].time = *time;
      else
        wrong_.add(records_[i].line, table_complaints::of::other, *time_,
                   fmt::format("{} {}", head_.column(*time_), times_.complaint(i)));
    out_.grid.of = times_.dates() ? time_grid::unit::second : time_grid::unit::number;
  }

  /// The records of each series in order of time; of one time, those with a value last.
  std::vector<std::vector<std::size_t>> sorted_records() const {
    std::vector<std::vector<std::size_t>> by_series(series_.count());
    for (std::size_t i = 0; i < records_.size(); ++i)
      by_series[records_[i].series].push_back(i);
    for (auto& of_one : by_series)
      std::ranges::stable_sort(of_one, {},
                               [&](std::size_t i) { return records_[i].time; });
    return by_series;
  }

  void lay_out() {
    const auto sorted = sorted_records();
    std::vector<std::vector<double>> times;
    for (const auto& of_one : sorted) {
      auto& own = times.emplace_back();
      for (const std::size_t i : of_one)
        own.push_back(records_[i].time);
    }
    const bool dates = out_.grid.dates();
    out_.grid = find_grid(times, dates, dates && times_.time_of_day());
    out_.season =
        params_.forecast.season > 0 ? params_.forecast.season : out_.grid.usual_season();
    if (has_other_steps(sorted))
      return complain(records_.front(),
                      fmt::format("{}, where the model learnt steps of {}",
                                  out_.grid.step_text(), params_.forecast.step));
    for (std::size_t s = 0; s < sorted.size(); ++s)
      add_series(s, sorted[s]);
  }

  /// Whether series that are long enough to tell have other steps than they must. A few days
  /// may be working days, or any.
  bool has_other_steps(const std::vector<std::vector<std::size_t>>& sorted) const {
    const auto is_day = [](const std::string& step) {
      return step == "1 day" || step.starts_with("a day ");
    };
    const auto found = out_.grid.step_length();
    const auto& must = params_.forecast.step;
    return !must.empty() && found != must && !(is_day(found) && is_day(must))
           && std::ranges::any_of(sorted,
                                  [](const auto& of_one) { return of_one.size() > 2; });
  }

  void add_series(std::size_t s, const std::vector<std::size_t>& of_one) {
    std::vector<std::int64_t> positions;
    for (const std::size_t i : of_one) {
      const auto position = out_.grid.position(records_[i].time);
      if (!position)
        return complain(records_[i], fmt::format("the time lies between two steps, where "
                                                 "{}; leave the row out, or sum up rows "
                                                 "to even steps",
                                                 out_.grid.step_text()));
      if (!positions.empty() && positions.back() == *position)
        return complain(records_[i],
                        fmt::format("the series {}has this time already; say with "
                                    "`series` which columns tell series apart, or leave "
                                    "one of the rows out",
                                    key_words(s)));
      positions.push_back(*position);
    }
    // Behind the last value, rows tell what is known of steps to be forecast.
    std::size_t with_value = of_one.size();
    while (with_value > 0 && std::isnan(records_[of_one[with_value - 1]].value))
      --with_value;
    if (with_value == 0)
      return;
    const auto steps = static_cast<std::size_t>(positions.back() - positions.front()) + 1;
    if (steps > most_gaps * positions.size() + free_gaps)
      return complain(records_[of_one.back()],
                      fmt::format("the series {}has {} of {} steps, where {}; sum up "
                                  "rows to longer steps",
                                  key_words(s), positions.size(), steps,
                                  out_.grid.step_text()));
    series_history one{.key = series_.label(s), .first = positions.front()};
    const auto at = [&](std::size_t i) {
      return static_cast<std::size_t>(positions[i] - positions.front());
    };
    one.values.assign(at(with_value - 1) + 1, missing);
    one.lines.assign(one.values.size(), 0);
    one.fields.assign(covariates_.size(), std::vector<std::string>(steps));
    for (std::size_t i = 0; i < of_one.size(); ++i) {
      if (i < with_value) {
        one.values[at(i)] = records_[of_one[i]].value;
        one.lines[at(i)] = records_[of_one[i]].line;
      }
      for (std::size_t c = 0; c < covariates_.size(); ++c)
        one.fields[c][at(i)] = std::move(fields_[of_one[i] * covariates_.size() + c]);
    }
    out_.series.push_back(std::move(one));
  }

  std::string key_words(std::size_t s) const {
    return series_.label(s).empty() ? "" : all_in_quotes(series_.label(s)) + " ";
  }

  void complain(const record& one, std::string message) {
    wrong_.add(one.line, table_complaints::of::other, head_.columns, std::move(message));
  }

  const data_params& params_;
  csv_form form_;
  csv_rows rows_;
  table_complaints wrong_;
  std::string_view origin_;
  csv_head head_;
  history out_;
  std::vector<std::size_t> targets_; ///< One, or the columns that are series each.
  std::optional<std::size_t> time_;
  std::vector<std::size_t> covariates_; ///< Columns.
  series_keys series_;
  std::vector<record> records_;
  row_times times_;                 ///< By record.
  std::vector<std::string> fields_; ///< [records, covariates]
};

} // namespace

expected<history> read_history(std::string_view text, std::string_view origin,
                               const data_params& params) {
  return history_reader(text, origin, params).read();
}

} // namespace clade
