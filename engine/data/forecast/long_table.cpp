// Rows are read into records first. When all were read, the order of dates is known; then
// the rows of each series are sorted by time and become steps. Nothing of one series decides
// how another is read, so that a prediction does not depend on what else is in a file.

#include "engine/data/forecast/long_table.hpp"

#include "engine/data/bytes/complaints.hpp"
#include "engine/data/bytes/csv_fields.hpp"
#include "engine/data/bytes/in_quotes.hpp"
#include "engine/data/bytes/natural_order.hpp"
#include "engine/data/columns/csv_form.hpp"
#include "engine/data/forecast/row_times.hpp"
#include "engine/data/forecast/series_keys.hpp"
#include "engine/data/forecast/time_grid.hpp"
#include "engine/data/tables/csv_head.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

namespace clade {
namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();
/// A series whose times leave out more steps for each that it has is not evenly spaced.
constexpr std::size_t most_gaps = 8;

struct record {
  std::uint64_t line = 0;
  std::uint32_t series = 0;
};

/// The target of a series, and the line that says it.
struct said_target {
  std::string text;
  std::uint64_t line = 0; ///< 0: no line does.
};

class long_reader {
public:
  long_reader(std::string_view text, std::string_view origin, const data_params& params,
              long_rows what)
      : params_(params),
        learns_(what == long_rows::to_learn),
        form_(find_form(text, params)),
        rows_(form_.rows(text)),
        wrong_(std::string(origin)),
        origin_(origin),
        times_(form_.decimal) {}

  expected<long_table> read() {
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
      lay_out();
    if (!wrong_.empty())
      return wrong_.take();
    if (out_.set.lines.empty())
      return head_.wrong(head_.line,
                         records_.empty() ? "has no rows" : "no series has a target");
    return std::move(out_);
  }

private:
  expected<void> find_columns() {
    if (auto found = series_.find(head_, params_.forecast.series); !found)
      return found;
    out_.keys = series_.names();
    used_ = series_.columns();
    if (!params_.forecast.time.empty()) {
      const auto time = head_.find_column(params_.forecast.time, "column of times");
      if (!time)
        return tl::unexpected(time.error());
      time_ = *time;
      used_.push_back(*time);
    }
    if (auto found = find_channels(); !found)
      return found;
    return find_target();
  }

  /// The columns of values, before the target is known: it is none of those that are listed.
  expected<void> find_channels() {
    std::vector<std::size_t> listed;
    std::vector<bool> left_out(head_.columns, false);
    auto choices = params_.columns;
    for (const std::string& name : params_.ignore)
      choices.push_back({name, encoding_kind::ignore});
    for (const std::string& name : params_.categories)
      choices.push_back({name, encoding_kind::category});
    for (const column_choice& c : choices) {
      const auto at = head_.find_column(c.column, "column of values");
      const bool number = c.kind == encoding_kind::number;
      if (!at && (number || learns_))
        return tl::unexpected(at.error());
      if (!at || std::ranges::find(used_, *at) != used_.end())
        continue;
      if (number)
        listed.push_back(*at);
      else
        left_out[*at] = true;
    }
    if (listed.empty())
      for (std::size_t i = 0; i < head_.columns; ++i)
        if (!left_out[i] && std::ranges::find(used_, i) == used_.end())
          listed.push_back(i);
    channels_ = std::move(listed);
    return {};
  }

  expected<void> find_target() {
    const auto target = head_.find_column(params_.target, "target");
    if (!target && learns_)
      return tl::unexpected(target.error());
    const bool named =
        params_.target != "last" && !numbered_column(params_.target, 1 << 20);
    // Without names, the last column of a table to be predicted may be one of values.
    const bool is_channel =
        target && std::ranges::find(channels_, *target) != channels_.end();
    if (target && (learns_ || named || !is_channel || params_.columns.empty()))
      target_ = *target;
    std::vector<std::size_t> used = used_;
    if (target_)
      used.push_back(*target_);
    std::ranges::sort(used);
    if (const auto twice = std::ranges::adjacent_find(used); twice != used.end())
      return head_.wrong(head_.line,
                         fmt::format("{} is named twice, as target, time or series",
                                     head_.column(*twice)));
    if (params_.split_by != split_rule::random && learns_) {
      const auto split = head_.find_column(params_.split_column, "column to split by");
      if (!split)
        return tl::unexpected(split.error());
      split_ = *split;
    }
    std::erase_if(channels_, [&](std::size_t c) {
      return target_ == c || (split_ && *split_ == c);
    });
    std::ranges::sort(channels_, [&](std::size_t a, std::size_t b) {
      return in_natural_order(head_.name(a), head_.name(b));
    });
    const auto twice = std::ranges::unique(channels_);
    channels_.erase(twice.begin(), twice.end());
    if (channels_.empty())
      return head_.wrong(head_.line,
                         "no column of values is left beside the series, their "
                         "times and the target");
    for (const std::size_t c : channels_)
      out_.channels.push_back(head_.name(c));
    out_.set.channels = channels_.size();
    if (target_)
      out_.set.target = head_.names.empty() ? "" : head_.name(*target_);
    return {};
  }

  void read_row(const csv_row& r) {
    if (r.fields.size() != head_.columns)
      return wrong_.add(r.line, table_complaints::of::length, head_.columns,
                        head_.other_length(r.fields.size()));
    for (const std::size_t column : series_.columns())
      if (r.fields[column].empty())
        wrong_.add(r.line, table_complaints::of::other, column,
                   fmt::format("{}, which names the series of a row, has no value",
                               head_.column(column)));
    const record one{.line = r.line, .series = series_.series_of(r)};
    if (one.series == targets_.size())
      begin_series(r);
    if (target_)
      read_target(r, one.series);
    if (split_ && params_.split_by == split_rule::group
        && splits_[one.series] != r.fields[*split_])
      wrong_.add(r.line, table_complaints::of::other, *split_,
                 fmt::format("{}, by which series are grouped, is {} here and {} in an "
                             "earlier row of the series {}",
                             head_.column(*split_), in_quotes(r.fields[*split_]),
                             in_quotes(splits_[one.series]),
                             all_in_quotes(series_.label(one.series))));
    if (time_)
      times_.add(r.fields[*time_]);
    for (const std::size_t c : channels_)
      values_.push_back(value_of(r, c));
    records_.push_back(one);
  }

  void begin_series(const csv_row& r) {
    targets_.emplace_back();
    if (split_)
      splits_.emplace_back(r.fields[*split_]);
  }

  /// Blanks say nothing; all other rows of a series say the same.
  void read_target(const csv_row& r, std::uint32_t series) {
    const std::string_view field = r.fields[*target_];
    const bool classes = params_.task.has_classes();
    if (lacks_target(field, params_.task))
      return;
    std::string text(field);
    if (!classes) {
      const auto n = field_number(field, form_.number(*target_));
      if (!n && learns_)
        return wrong_.add(r.line, table_complaints::of::target, *target_,
                          fmt::format("{}, the target, is {}, where {} must be; for "
                                      "classes say task = \"classification\"",
                                      head_.column(*target_), in_quotes(field),
                                      number_words(form_.number(*target_))));
      text = n ? fmt::format("{}", *n) : text;
    }
    auto& said = targets_[series];
    if (said.line == 0)
      said = {std::move(text), r.line};
    else if (said.text != text)
      wrong_.add(
          r.line, table_complaints::of::target, *target_,
          fmt::format("the target of the series {} is {}, where line {} says {}; a "
                      "series has one target, so that another column may be it, or "
                      "others tell series apart",
                      all_in_quotes(series_.label(series)), in_quotes(field), said.line,
                      in_quotes(said.text)));
  }

  double value_of(const csv_row& r, std::size_t column) {
    const std::string_view field = r.fields[column];
    if (field_blank_number(field))
      return missing;
    const auto n = field_number(field, form_.number(column));
    if (n && is_finite_float(*n))
      return *n;
    wrong_.add(
        r.line, table_complaints::of::number, column,
        fmt::format("{} is {}, where {} must be; to leave the column out, ignore = "
                    "[{}]",
                    head_.column(column), in_quotes(field),
                    number_words(form_.number(column)), in_quotes(head_.name(column))));
    return missing;
  }

  /// The rows of each series in order of time.
  std::vector<std::vector<std::size_t>> sorted_rows() {
    std::vector<double> times(records_.size(), 0);
    for (std::size_t i = 0; time_ && i < records_.size(); ++i)
      if (const auto time = times_.time(i))
        times[i] = *time;
      else
        wrong_.add(records_[i].line, table_complaints::of::other, *time_,
                   fmt::format("{} {}", head_.column(*time_), times_.complaint(i)));
    std::vector<std::vector<std::size_t>> by_series(series_.count());
    for (std::size_t i = 0; i < records_.size(); ++i)
      by_series[records_[i].series].push_back(i);
    if (!time_)
      return by_series;
    for (auto& of_one : by_series) {
      std::ranges::stable_sort(of_one, {}, [&](std::size_t i) { return times[i]; });
      for (std::size_t i = 1; i < of_one.size(); ++i)
        if (times[of_one[i]] == times[of_one[i - 1]] && wrong_.empty())
          complain_of_twice(of_one[i - 1], of_one[i]);
    }
    sorted_times_ = std::move(times);
    return by_series;
  }

  void complain_of_twice(std::size_t before, std::size_t row) {
    wrong_.add(
        records_[row].line, table_complaints::of::other, head_.columns,
        fmt::format("the series {} has this time already, in line {}; say with "
                    "`series` which columns tell series apart, or leave one of the "
                    "rows out",
                    all_in_quotes(series_.label(records_[row].series)),
                    records_[before].line));
  }

  /// The step of each row, from 0, and with gaps where the times are evenly spaced.
  std::vector<std::size_t> steps_of(const std::vector<std::size_t>& rows) const {
    std::vector<std::size_t> steps;
    if (time_) {
      std::vector<double> times;
      for (const std::size_t i : rows)
        times.push_back(sorted_times_[i]);
      const bool dates = times_.dates();
      const auto grid =
          find_grid(std::array{times}, dates, dates && times_.time_of_day());
      for (const double time : times) {
        const auto at = grid.position(time), first = grid.position(times.front());
        if (!at || !first
            || (!steps.empty()
                && *at - *first <= static_cast<std::int64_t>(steps.back())))
          break;
        steps.push_back(static_cast<std::size_t>(*at - *first));
      }
      if (steps.size() == rows.size() && steps.back() < most_gaps * rows.size())
        return steps;
      steps.clear();
    }
    for (std::size_t i = 0; i < rows.size(); ++i)
      steps.push_back(i);
    return steps;
  }

  void lay_out() {
    const auto sorted = sorted_rows();
    if (!wrong_.empty())
      return;
    for (std::size_t s = 0; s < sorted.size(); ++s) {
      const bool known = target_ && targets_[s].line > 0;
      if (learns_ && !known) {
        ++out_.without_target;
        continue;
      }
      const auto steps = steps_of(sorted[s]);
      for (std::size_t c = 0; c < channels_.size(); ++c) {
        const auto begin = out_.set.values.size();
        out_.set.values.resize(begin + steps.back() + 1, missing);
        for (std::size_t i = 0; i < steps.size(); ++i)
          out_.set.values[begin + steps[i]] =
              values_[sorted[s][i] * channels_.size() + c];
        out_.set.ends.push_back(out_.set.values.size());
      }
      out_.set.lines.push_back(records_[*std::ranges::min_element(sorted[s])].line);
      if (target_)
        out_.set.targets.push_back(targets_[s].text);
      if (split_)
        out_.splits.push_back(splits_[s]);
      out_.labels.push_back(series_.label(s));
    }
  }

  const data_params& params_;
  bool learns_;
  csv_form form_;
  csv_rows rows_;
  table_complaints wrong_;
  std::string_view origin_;
  csv_head head_;
  long_table out_;
  std::vector<std::size_t> channels_; ///< Columns.
  std::vector<std::size_t> used_;     ///< The columns of series and times.
  std::optional<std::size_t> time_, target_, split_;
  series_keys series_;
  std::vector<said_target> targets_; ///< By series.
  std::vector<std::string> splits_;  ///< By series.
  std::vector<record> records_;
  std::vector<double> values_;       ///< [records, channels]
  row_times times_;                  ///< By record.
  std::vector<double> sorted_times_; ///< By record; without a column of times, empty.
};

} // namespace

expected<long_table> read_long_table(std::string_view text, std::string_view origin,
                                     const data_params& params, long_rows rows) {
  return long_reader(text, origin, params, rows).read();
}

} // namespace clade
