#include "engine/data/profile/suspicions.hpp"

#include "engine/data/bytes/folded_text.hpp"
#include "genome/base/text.hpp"

#include <algorithm>
#include <optional>

namespace clade {
namespace {

constexpr std::size_t most_names = 5;

/// The classes of so many rows, in one suspicion.
void suspect_classes_of(data_profile& p, std::uint64_t rows, suspicion_kind kind) {
  suspicion s{.kind = kind};
  for (const auto& [name, count] : p.classes)
    if (count == rows && ++s.count <= most_names)
      s.names.push_back(name);
  if (s.count > 0)
    p.suspicions.push_back(std::move(s));
}

void suspect_look_alikes(data_profile& p, const std::vector<value_count>& values,
                         suspicion_kind kind, const std::string& column) {
  std::vector<std::string> texts;
  for (const value_count& v : values)
    if (v.value.size() < value_sample::kept_bytes) // Others are cut off.
      texts.push_back(v.value);
  const auto groups = look_alikes(texts);
  if (!groups.empty())
    p.suspicions.push_back({.kind = kind,
                            .column = column,
                            .count = groups.size(),
                            .names = groups.front()});
}

void suspect_classes(data_profile& p) {
  const auto rows = std::max<std::uint64_t>(p.target.values(), 1);
  suspect_classes_of(p, 1, suspicion_kind::lone_class);
  suspect_classes_of(p, 2, suspicion_kind::small_class);
  suspect_look_alikes(p, p.classes, suspicion_kind::alike_classes, "");
  if (!p.classes.empty()) {
    const auto& [name, count] = p.classes.front();
    const double share = static_cast<double>(count) / static_cast<double>(rows);
    if (share >= 0.95)
      p.suspicions.push_back(
          {.kind = suspicion_kind::unbalanced, .value = name, .share = share});
  }
  if (p.classes.size() > std::max<std::uint64_t>(rows / 10, 2))
    p.suspicions.push_back(
        {.kind = suspicion_kind::many_classes, .count = p.target.distinct});
}

/// Suspects values that are no numbers among numbers.
void suspect_numbers(data_profile& p, const column_profile& c, const std::string& label) {
  const auto values = static_cast<double>(c.values());
  if (c.infinite > 0 && static_cast<double>(c.numbers + c.infinite) >= 0.5 * values)
    p.suspicions.push_back(
        {.kind = suspicion_kind::infinite, .column = label, .count = c.infinite});
  const auto others = c.values() - c.numbers - c.infinite;
  if (c.other_units > 0 && static_cast<double>(c.numbers + c.other_units) >= 0.9 * values)
    p.suspicions.push_back({.kind = suspicion_kind::mixed_units,
                            .column = label,
                            .value = c.other_unit,
                            .count = c.other_units});
  else if (others > 0 && static_cast<double>(c.numbers) >= 0.9 * values)
    p.suspicions.push_back({.kind = suspicion_kind::mostly_numbers,
                            .column = label,
                            .value = c.not_number,
                            .count = others});
}

/// Suspects values that are no dates among dates.
void suspect_dates(data_profile& p, const column_profile& c, const std::string& label) {
  const auto others = c.values() - c.dates;
  if (c.dates > 0 && others > 0
      && static_cast<double>(c.dates) >= 0.9 * static_cast<double>(c.values()))
    p.suspicions.push_back({.kind = c.kind == column_kind::date
                                        ? suspicion_kind::no_days
                                        : suspicion_kind::mostly_dates,
                            .column = label,
                            .value = c.not_date,
                            .count = others});
}

void suspect_column(data_profile& p, const column_profile& c, const std::string& label) {
  const auto rows = static_cast<double>(std::max<std::uint64_t>(c.rows, 1));
  const double blank = static_cast<double>(c.blanks) / rows;
  if (blank >= 0.5 && c.values() > 0)
    p.suspicions.push_back(
        {.kind = suspicion_kind::mostly_blank, .column = label, .share = blank});
  suspect_numbers(p, c, label);
  if (c.outlier)
    p.suspicions.push_back(
        {.kind = suspicion_kind::outlier, .column = label, .share = *c.outlier});
  suspect_dates(p, c, label);
  if (c.kind == column_kind::category)
    suspect_look_alikes(p, c.frequent, suspicion_kind::alike_values, label);
  if (c.order_unclear)
    p.suspicions.push_back({.kind = suspicion_kind::unclear_dates, .column = label});
}

void suspect_columns(data_profile& p) {
  for (std::size_t i = 0; i < p.table.columns.size(); ++i) {
    const column_profile& c = p.table.columns[i];
    if (p.steps.has(i))
      continue; // Steps have one scale, which outliers of one of them do not make.
    if (!p.is_apart(i))
      suspect_column(p, c, p.label(i));
    else if (p.task.has_numbers())
      suspect_numbers(p, c, p.label(i));
  }
}

/// Whether a column of numbers says when a row was: rising or falling, and named so.
bool is_time(const column_profile& c) {
  if (!(c.rising || c.falling) || c.blanks > 0 || c.numbers != c.values())
    return false;
  std::string name = c.name;
  std::ranges::transform(name, name.begin(), [](unsigned char letter) {
    return static_cast<char>(letter >= 'A' && letter <= 'Z' ? letter + 32 : letter);
  });
  const bool year = (name.ends_with("year") || name == "yr") && *c.minimum >= 1000
                    && *c.maximum <= 3000;
  return year || name == "date" || name.ends_with("time") || name.ends_with("timestamp")
         || name == "unixtime" || name == "epoch_seconds";
}

/// The column that orders the rows in time, if any: of dates, where there is exactly one,
/// else of numbers, the one of most values.
std::optional<std::size_t> find_time(const data_profile& p) {
  constexpr std::uint64_t least_times = 10;
  std::vector<std::size_t> dates, numbers;
  for (std::size_t i = 0; i < p.table.columns.size(); ++i) {
    const column_profile& c = p.table.columns[i];
    if (p.is_apart(i) || c.distinct < least_times)
      continue;
    if (c.kind == column_kind::date && (c.rising || c.falling) && c.blanks == 0)
      dates.push_back(i);
    else if (c.kind != column_kind::date && is_time(c))
      numbers.push_back(i);
  }
  if (dates.size() == 1)
    return dates.front();
  if (!dates.empty() || numbers.empty())
    return std::nullopt;
  return *std::ranges::max_element(
      numbers, {}, [&](std::size_t i) { return p.table.columns[i].distinct; });
}

} // namespace

void add_suspicions(data_profile& p) {
  if (p.table.repeated_rows > 0)
    p.suspicions.push_back(
        {.kind = suspicion_kind::repeated_rows, .count = p.table.repeated_rows});
  if (p.task.has_classes())
    suspect_classes(p);
  const bool lists = p.task.has_labels() && p.targets.empty();
  if (p.target.blanks > 0 && lists)
    p.note(fmt::format("{} no label", counted(p.target.blanks, "row has", "rows have")));
  else if (p.target.blanks > 0)
    p.suspicions.push_back(
        {.kind = suspicion_kind::blank_target, .count = p.target.blanks});
  suspect_columns(p);
  if (p.rows < 100)
    p.suspicions.push_back({.kind = suspicion_kind::few_rows, .count = p.rows});
  if (p.split == split_kind::by_time)
    p.suspicions.push_back(
        {.kind = suspicion_kind::no_forecast, .column = p.split_column});
  if (!p.unused_arrays.empty())
    p.suspicions.push_back({.kind = suspicion_kind::unused_arrays,
                            .count = p.unused_arrays.size(),
                            .names = p.unused_arrays});
}

void choose_split(data_profile& p) {
  p.split = p.task.has_classes() ? split_kind::stratified : split_kind::shuffled;
  if (p.forecast.of_examples())
    return; // Columns are of steps, and not of series.
  std::vector<std::size_t> groups;
  for (std::size_t i = 0; i < p.table.columns.size(); ++i)
    if (!p.is_apart(i) && use_of(p.table.columns[i]).ignored == ignore_reason::groups)
      groups.push_back(i);
  if (!groups.empty()) {
    // The coarsest: whatever the others name lies within it more often than not.
    const auto coarsest = std::ranges::min_element(
        groups, {}, [&](std::size_t i) { return p.table.columns[i].distinct; });
    p.split = split_kind::by_group;
    p.split_column = p.label(*coarsest);
  } else if (const auto time = find_time(p)) {
    p.split = split_kind::by_time;
    p.split_column = p.label(*time);
  }
}

} // namespace clade
