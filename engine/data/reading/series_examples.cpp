// Networks take examples of one length. Series of others are stretched over all of it, as
// "Deep learning for time series classification: a review" (Ismail Fawaz et al., 2019) did
// with every multivariate set of the archive. Padding at the end was the other choice: it
// keeps the pace, but then the mean over time, at the end of convolutional networks, and
// the share of positive values, which random convolutions give, say how long a series is
// rather than what is in it, and a set with one long series is mostly padding.
//
// Steps are first, then channels, as they come in time.

#include "engine/data/reading/series_examples.hpp"

#include "engine/data/bytes/csv_fields.hpp"
#include "engine/data/bytes/in_quotes.hpp"
#include "engine/data/columns/code_book.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace clade {
namespace {

tl::unexpected<error> wrong(const series_set& set, std::size_t series,
                            std::string_view origin, std::string message) {
  return fail_in(fmt::format("{}:{}", origin, set.lines[series]),
                 {error_kind::invalid_input, std::move(message)});
}

/// Targets are numbers as programs write them.
std::optional<double> number_of(std::string_view text) {
  return field_number(text);
}

/// The values of all series, each of so many steps.
exact_numbers features_of(const series_set& set, std::size_t steps) {
  exact_numbers out;
  out.reserve(set.count() * steps * set.channels);
  std::vector<double> one(steps * set.channels);
  for (std::size_t i = 0; i < set.count(); ++i) {
    for (std::size_t c = 0; c < set.channels; ++c) {
      const auto values = set.channel(i, c);
      std::vector<double> filled(values.begin(), values.end());
      fill_gaps(filled);
      filled = resized(filled, steps);
      for (std::size_t t = 0; t < steps; ++t)
        one[t * set.channels + c] = filled[t];
    }
    for (const double v : one)
      out.push_back(v);
  }
  return out;
}

expected<void> check_channels(const series_set& set, std::string_view origin,
                              const tensor_shape& shape) {
  if (shape.layout() != layout::sequence)
    return fail_in(origin, {error_kind::invalid_input,
                            "holds time series, whose examples are of [steps, channels], "
                            "where those of the experiment or the training data are "
                                + to_text(shape)});
  if (const auto channels = static_cast<std::size_t>(shape.sizes[1]);
      channels != set.channels)
    return wrong(set, 0, origin,
                 fmt::format("has {}, where the training data or data.shape has {}",
                             counted(set.channels, "channel"), channels));
  return {};
}

expected<void> take_targets(const series_set& set, examples& out,
                            const learning_task& task) {
  code_book classes;
  for (std::size_t i = 0; i < set.count(); ++i) {
    const std::string& text = set.targets[i];
    if (field_blank(text))
      return wrong(set, i, out.origin,
                   "has no class or number to learn from; leave the series out");
    if (!task.has_classes()) {
      const auto n = number_of(text);
      if (!n || !is_finite_float(*n))
        return wrong(set, i, out.origin,
                     fmt::format("the target is {}, where a number must be; for classes "
                                 "say task = \"classification\"",
                                 in_quotes(text)));
      out.targets.push_back(*n);
      continue;
    }
    out.labels.push_back(classes.code_of(text));
  }
  out.classes = std::move(classes.texts);
  return {};
}

/// Returns the length of the longest channel of a series.
std::size_t length_of(const series_set& set, std::size_t series) {
  std::size_t longest = 0;
  for (std::size_t c = 0; c < set.channels; ++c)
    longest = std::max(longest, set.channel(series, c).size());
  return longest;
}

/// Says how many series are longer than any that the model knows.
std::vector<std::string> length_notes(const series_set& set, std::string_view origin,
                                      std::size_t steps) {
  std::uint64_t longer = 0;
  for (std::size_t i = 0; i < set.count(); ++i)
    longer += length_of(set, i) > steps ? 1 : 0;
  if (longer == 0)
    return {};
  return {fmt::format("{}: {} longer than the {} steps that the model takes, and shrunk "
                      "to them: each step is then the mean of its share",
                      origin, counted(longer, "series is", "series are"),
                      with_commas(steps))};
}

} // namespace

series_lengths lengths_of(const series_set& set) {
  constexpr std::size_t most_steps = 1 << 14, most_values = 1 << 24, times_mean = 8;
  series_lengths out{.shortest = set.values.size()};
  for (std::size_t i = 0; i < set.count(); ++i) {
    const auto length = length_of(set, i);
    out.shortest = std::min(out.shortest, length);
    out.longest = std::max(out.longest, length);
  }
  out.mean = (set.values.size() + set.ends.size() - 1) / set.ends.size();
  out.steps = std::min(
      {out.longest, times_mean * out.mean, most_steps, most_values / set.channels});
  out.gaps = static_cast<std::uint64_t>(
      std::ranges::count_if(set.values, [](double v) { return std::isnan(v); }));
  return out;
}

void fill_gaps(std::span<double> values) {
  std::optional<std::size_t> before;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i]))
      continue;
    const std::size_t first = before ? *before + 1 : 0;
    for (std::size_t gap = first; gap < i; ++gap) {
      const double share =
          !before ? 1
                  : static_cast<double>(gap - *before) / static_cast<double>(i - *before);
      values[gap] = before ? std::lerp(values[*before], values[i], share) : values[i];
    }
    before = i;
  }
  if (before)
    std::fill(values.begin() + static_cast<std::ptrdiff_t>(*before) + 1, values.end(),
              values[*before]);
}

std::vector<double> resized(std::span<const double> values, std::size_t steps) {
  std::vector<double> out(steps, values.front());
  if (values.size() == steps)
    return {values.begin(), values.end()};
  const auto n = static_cast<double>(values.size()), m = static_cast<double>(steps);
  if (values.size() < steps) {
    for (std::size_t t = 0; t < steps; ++t) {
      const double place = static_cast<double>(t) * (n - 1) / (m - 1);
      const auto at = std::min(static_cast<std::size_t>(place), values.size() - 1);
      const auto next = std::min(at + 1, values.size() - 1);
      out[t] = std::lerp(values[at], values[next], place - static_cast<double>(at));
    }
    return out;
  }
  for (std::size_t t = 0; t < steps; ++t) {
    const double begin = static_cast<double>(t) * n / m, end = begin + n / m;
    double sum = 0;
    for (auto i = static_cast<std::size_t>(begin);
         i < values.size() && static_cast<double>(i) < end; ++i) {
      const auto at = static_cast<double>(i);
      sum += values[i] * (std::min(end, at + 1) - std::max(begin, at));
    }
    out[t] = sum * m / n;
  }
  return out;
}

expected<examples> series_examples(const series_set& set, std::string_view origin,
                                   const data_params& params) {
  if (set.targets.empty())
    return fail_in(origin, {error_kind::invalid_input,
                            "holds series without classes or numbers to learn from: in a "
                            ".ts file they stand last in each line, and the header says "
                            "@classLabel true a b c, or @targetLabel true"});
  if (params.target != "last")
    return fail_in(origin, {error_kind::invalid_input,
                            "has one target, the last of each line; leave target out"});
  auto shape = params.shape;
  if (shape.sizes.empty())
    shape.sizes = {static_cast<std::int64_t>(lengths_of(set).steps),
                   static_cast<std::int64_t>(set.channels)};
  if (auto fits = check_channels(set, origin, shape); !fits)
    return tl::unexpected(std::move(fits).error());
  examples out;
  out.origin = std::string(origin);
  out.by_line = true;
  out.places = set.lines;
  out.count = set.count();
  out.target = set.target;
  out.shape = std::move(shape);
  if (auto taken = take_targets(set, out, params.task); !taken)
    return tl::unexpected(std::move(taken).error());
  out.features = features_of(set, static_cast<std::size_t>(out.shape.sizes[0]));
  return out;
}

expected<raw_rows> new_series(const series_set& set, std::string_view origin,
                              const preprocessing& how) {
  if (auto fits = check_channels(set, origin, how.shape); !fits)
    return tl::unexpected(std::move(fits).error());
  const auto steps = static_cast<std::size_t>(how.shape.sizes[0]);
  raw_rows out{.origin = std::string(origin),
               .count = set.count(),
               .values = features_of(set, steps),
               .lines = set.lines,
               .notes = length_notes(set, origin, steps)};
  if (!set.targets.empty())
    out.targets = read_targets(set.targets, {field_blank, number_of}, how);
  return out;
}

expected<examples> series_examples(const long_table& table, std::string_view origin,
                                   const data_params& params) {
  auto as_file = params;
  as_file.target = "last";
  return series_examples(table.set, origin, as_file).map([&](examples&& out) {
    code_book splits;
    for (const std::string& text : table.splits)
      out.split_codes.push_back(splits.code_of(text));
    out.split_values = std::move(splits.texts);
    out.dropped = table.without_target;
    return std::move(out);
  });
}

expected<raw_rows> new_series(const long_table& table, std::string_view origin,
                              const preprocessing& how) {
  return new_series(table.set, origin, how).map([&](raw_rows&& out) {
    out.forecasts.names = table.keys;
    for (const auto& label : table.labels)
      out.forecasts.rows.push_back({.labels = label});
    return std::move(out);
  });
}

} // namespace clade
