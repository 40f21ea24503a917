#include "engine/evaluation/table/table.hpp"

#include <algorithm>
#include <cmath>

namespace clade {

std::optional<std::size_t> benchmark_table::metric(std::string_view name) const {
  const auto& all = description_.metrics;
  const auto found = std::ranges::find(all, name, &table_metric::name);
  if (found == all.end())
    return std::nullopt;
  return static_cast<std::size_t>(found - all.begin());
}

std::optional<std::size_t> benchmark_table::fidelity(std::uint32_t epochs) const {
  const auto& all = description_.fidelities;
  const auto above = std::ranges::upper_bound(all, epochs);
  if (above == all.begin())
    return std::nullopt;
  return static_cast<std::size_t>(above - all.begin()) - 1;
}

double benchmark_table::share(const cell& c) const {
  const auto& all = description_.fidelities;
  return description_.metrics[c.metric].in_proportion
             ? static_cast<double>(all[c.fidelity]) / static_cast<double>(all.back())
             : 1;
}

std::optional<double> benchmark_table::value(const cell& c, std::uint64_t draw) const {
  const auto& columns = columns_[c.metric][c.fidelity];
  const double* row = values_.data() + c.row * width_;
  const auto run = static_cast<std::uint64_t>(std::ranges::count_if(
      columns, [&](std::uint32_t column) { return !std::isnan(row[column]); }));
  if (run == 0)
    return std::nullopt;
  auto left = draw % run;
  for (const auto column : columns)
    if (!std::isnan(row[column]) && left-- == 0)
      return row[column] * share(c);
  return std::nullopt;
}

std::optional<double> benchmark_table::mean(const cell& c) const {
  const double* row = values_.data() + c.row * width_;
  double sum = 0;
  std::size_t run = 0;
  for (const auto column : columns_[c.metric][c.fidelity])
    if (!std::isnan(row[column])) {
      sum += row[column];
      ++run;
    }
  if (run == 0)
    return std::nullopt;
  return sum / static_cast<double>(run) * share(c);
}

std::optional<double> benchmark_table::truth(std::uint32_t row) const {
  return mean({.row = row, .metric = truth_, .fidelity = fidelities() - 1});
}

} // namespace clade
