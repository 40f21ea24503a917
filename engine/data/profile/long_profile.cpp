// A table of series with a row for each step: the columns are profiled as those of any table;
// here the series are read, whose targets and lengths make the rest of the profile.

#include "engine/data/bytes/in_quotes.hpp"
#include "engine/data/forecast/long_table.hpp"
#include "engine/data/profile/data_kinds.hpp"
#include "engine/data/profile/forecast_profile.hpp"
#include "engine/data/profile/target_guess.hpp"
#include "engine/data/reading/series_examples.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

namespace clade {
namespace {

/// The names of columns as the profile labels them: "3" may be a number.
expected<std::vector<std::size_t>> find_columns(const data_profile& p,
                                                const std::vector<std::string>& names,
                                                const std::string& option) {
  std::vector<std::size_t> out;
  for (const std::string& name : names) {
    std::size_t at = 0;
    while (at < p.table.columns.size() && p.label(at) != name
           && p.table.columns[at].name != name && std::to_string(at + 1) != name)
      ++at;
    if (at == p.table.columns.size()) {
      std::vector<std::string> all;
      for (std::size_t i = 0; i < p.table.columns.size(); ++i)
        all.push_back(p.label(i));
      return fail_in(p.file.string(),
                     {error_kind::invalid_input,
                      fmt::format("{} {} names no column; there are {}", option,
                                  in_quotes(name), all_in_quotes(all))});
    }
    if (p.target_column == at)
      return fail_in(p.file.string(),
                     {error_kind::invalid_input,
                      fmt::format("{} {} names the target; say another one with --target",
                                  option, in_quotes(name))});
    out.push_back(at);
  }
  return out;
}

/// Says which columns are left out, since series are of numbers.
void note_left_out(data_profile& p, const std::vector<std::size_t>& used) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < p.table.columns.size(); ++i)
    if (!p.is_channel(i) && p.target_column != i
        && std::ranges::find(used, i) == used.end())
      names.push_back(p.label(i));
  if (!names.empty())
    p.note(fmt::format("{} left out, as series are of numbers: {}",
                       counted(names.size(), "column is", "columns are"),
                       all_in_quotes(names)));
}

} // namespace

expected<void> profile_long_table(data_profile& p, const profile_request& request,
                                  std::string_view text, const data_params& said) {
  const auto keys = find_columns(p, request.forecast.series, "--series");
  if (!keys)
    return tl::unexpected(keys.error());
  auto used = *keys;
  for (const std::size_t column : *keys)
    p.forecast.series.push_back(p.label(column));
  if (request.forecast.time.empty()) {
    p.forecast.time = guess_time(p);
    if (!p.forecast.time.empty())
      p.note(
          fmt::format("the rows of each series are put in order of {}, which looks like "
                      "their times; --time COLUMN says another one",
                      in_quotes(p.forecast.time)));
  } else {
    const auto time = find_columns(p, {request.forecast.time}, "--time");
    if (!time)
      return tl::unexpected(time.error());
    p.forecast.time = p.label(time->front());
  }
  for (std::size_t i = 0; i < p.table.columns.size(); ++i)
    if (p.label(i) == p.forecast.time)
      used.push_back(i);
  auto params = said;
  params.target = p.label(*p.target_column);
  params.forecast = p.forecast;
  params.task = request.task.value_or(task_of(p.target));
  for (std::size_t i = 0; i < p.table.columns.size(); ++i)
    if (p.target_column != i && std::ranges::find(used, i) == used.end())
      params.columns.push_back(
          {p.label(i), p.is_channel(i) ? encoding_kind::number : encoding_kind::ignore});
  const auto table = read_long_table(text, p.file.string(), params);
  if (!table)
    return tl::unexpected(table.error());
  // The targets are those of series, of which each says its own in many rows.
  column_profiler targets(p.target.name);
  for (const std::string& target : table->set.targets)
    targets.add(target);
  p.target = targets.finish();
  p.rows = table->set.count();
  const auto lengths = lengths_of(table->set);
  if (lengths.longest == 1)
    return fail_in(
        p.file.string(),
        {error_kind::invalid_input,
         fmt::format("each series has one row, so that this is a table of rows; "
                     "leave out --series, or name another column than {}",
                     all_in_quotes(p.forecast.series))});
  p.shape.sizes = {static_cast<std::int64_t>(lengths.steps),
                   static_cast<std::int64_t>(table->set.channels)};
  if (table->without_target > 0)
    p.note(fmt::format("{} left out, without a target",
                       counted(table->without_target, "series is", "series are")));
  note_left_out(p, used);
  note_lengths(p, table->set);
  return {};
}

expected<inferred_data> infer_series(const data_params& params, std::string_view text,
                                     const csv_head& head, const table_profile& columns) {
  inferred_data out{.params = params};
  std::vector<bool> said(head.columns, false);
  const auto find = [&](const std::string& name,
                        const std::string& use) -> expected<void> {
    return head.find_column(name, use).map([&](std::size_t at) { said[at] = true; });
  };
  auto found = find(params.target, "target");
  for (const std::string& key : params.forecast.series)
    found = found.and_then([&] { return find(key, "column of series"); });
  if (!params.forecast.time.empty())
    found = found.and_then([&] { return find(params.forecast.time, "column of times"); });
  if (!params.split_column.empty())
    found =
        found.and_then([&] { return find(params.split_column, "column to split by"); });
  for (const column_choice& c : params.columns)
    found = found.and_then([&] { return find(c.column, std::string(to_text(c.kind))); });
  for (const std::string& name : params.ignore)
    found = found.and_then([&] { return find(name, "column to ignore"); });
  if (!found)
    return tl::unexpected(std::move(found).error());
  std::vector<std::string> left_out;
  for (std::size_t i = 0; i < head.columns; ++i) {
    if (said[i])
      continue;
    const auto& c = columns.columns[i];
    const std::string name = head.name(i);
    // If 19 of 20 values are numbers, the others are errors to be told.
    const bool numbers = c.kind != column_kind::date && 20 * c.numbers >= 19 * c.values();
    out.params.columns.push_back(
        {name, numbers ? encoding_kind::number : encoding_kind::ignore});
    if (!numbers)
      left_out.push_back(name);
  }
  if (!left_out.empty())
    out.notes.push_back(fmt::format("{} left out, as series are of numbers: {}",
                                    left_out.size() == 1 ? "a column is" : "columns are",
                                    all_in_quotes(left_out)));
  if (out.params.header == "auto")
    out.params.header = head.names.empty() ? "none" : "names";
  return read_long_table(text, params.file.string(), out.params)
      .map([&](const long_table& read) {
        const auto lengths = lengths_of(read.set);
        out.notes.insert(
            out.notes.begin(),
            fmt::format(
                "{} of {} steps{}, {}: {}", counted(read.set.count(), "series", "series"),
                lengths.shortest == lengths.longest
                    ? with_commas(lengths.longest)
                    : fmt::format("{} to {}", with_commas(lengths.shortest),
                                  with_commas(lengths.longest)),
                lengths.steps == lengths.longest
                    ? ""
                    : ", each shrunk or stretched to " + with_commas(lengths.steps),
                counted(read.channels.size(), "channel"), joined(read.channels)));
        return std::move(out);
      });
}

} // namespace clade
