#include "engine/data/suspicions.hpp"

#include <algorithm>
#include <map>

namespace clade {
namespace {

void suspect_classes(data_profile& p) {
  const auto rows = std::max<std::uint64_t>(p.target.values(), 1);
  for (const auto& [name, count] : p.classes)
    if (count <= 2)
      p.suspicions.push_back(
          {.kind = suspicion_kind::small_class, .value = name, .count = count});
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

void suspect_columns(data_profile& p) {
  std::map<std::string, int> seen;
  for (std::size_t i = 0; i < p.table.columns.size(); ++i) {
    const column_profile& c = p.table.columns[i];
    if (!c.name.empty() && ++seen[c.name] == 2)
      p.suspicions.push_back({.kind = suspicion_kind::named_twice, .value = c.name});
    if (p.target_column == i)
      continue;
    const std::string label = p.label(i);
    const auto rows = static_cast<double>(std::max<std::uint64_t>(c.rows, 1));
    const double blank = static_cast<double>(c.blanks) / rows;
    if (blank >= 0.5 && c.values() > 0)
      p.suspicions.push_back(
          {.kind = suspicion_kind::mostly_blank, .column = label, .share = blank});
    if (c.numbers < c.values() && c.numbers >= 0.9 * static_cast<double>(c.values()))
      p.suspicions.push_back({.kind = suspicion_kind::mostly_numbers,
                              .column = label,
                              .value = c.not_number,
                              .count = c.values() - c.numbers});
    if (c.order_unclear)
      p.suspicions.push_back({.kind = suspicion_kind::unclear_dates, .column = label});
  }
}

} // namespace

void add_suspicions(data_profile& p) {
  if (p.table.repeated_rows > 0)
    p.suspicions.push_back(
        {.kind = suspicion_kind::repeated_rows, .count = p.table.repeated_rows});
  if (p.task.has_classes())
    suspect_classes(p);
  if (p.target.blanks > 0)
    p.suspicions.push_back(
        {.kind = suspicion_kind::blank_target, .count = p.target.blanks});
  suspect_columns(p);
  if (p.rows < 100)
    p.suspicions.push_back({.kind = suspicion_kind::few_rows, .count = p.rows});
}

void choose_split(data_profile& p) {
  constexpr std::uint64_t least_dates = 10;
  p.split = p.task.has_classes() ? split_kind::stratified : split_kind::shuffled;
  std::vector<std::size_t> groups, times;
  for (std::size_t i = 0; i < p.table.columns.size(); ++i) {
    const column_profile& c = p.table.columns[i];
    if (p.target_column == i)
      continue;
    if (use_of(c).ignored == ignore_reason::groups)
      groups.push_back(i);
    if (c.kind == column_kind::date && (c.rising || c.falling) && c.blanks == 0
        && c.distinct >= least_dates)
      times.push_back(i);
  }
  if (!groups.empty()) {
    // The coarsest: whatever the others name lies within it more often than not.
    const auto coarsest = std::ranges::min_element(
        groups, {}, [&](std::size_t i) { return p.table.columns[i].distinct; });
    p.split = split_kind::by_group;
    p.split_column = p.label(*coarsest);
  } else if (times.size() == 1) {
    p.split = split_kind::by_time;
    p.split_column = p.label(times.front());
  }
}

} // namespace clade
