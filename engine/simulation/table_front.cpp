#include "engine/simulation/table_front.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace clade {

namespace {

/// The metric that tells the truth about an aim.
std::string truth_of(const table_description& d, const std::string& metric) {
  if (metric == d.objective.metric)
    return d.truth;
  const auto of_test = "test." + metric.substr(metric.find('.') + 1);
  return std::ranges::find(d.metrics, of_test, &table_metric::name) == d.metrics.end()
             ? metric
             : of_test;
}

std::string names_of(const table_description& d) {
  std::string names;
  for (const auto& m : d.metrics)
    if (!m.name.starts_with("test."))
      names += (names.empty() ? "" : ", ") + m.name;
  return names;
}

/// All to be raised; nothing where one is missing or not finite.
objective_point raised(const benchmark_table& table, std::uint32_t row,
                       const std::vector<aim>& aims,
                       const std::vector<std::size_t>& metrics) {
  objective_point point;
  for (std::size_t i = 0; i < aims.size(); ++i) {
    const auto mean = table.mean(
        {.row = row, .metric = metrics[i], .fidelity = table.fidelities() - 1});
    if (!mean || !std::isfinite(*mean))
      return {};
    point.push_back(aims[i].maximize ? *mean : -*mean);
  }
  return point;
}

/// To the share of values that are worse, of those that are worse than the best.
void scale(std::vector<objective_point>& all, std::size_t objective) {
  std::vector<double> sorted;
  for (const auto& p : all)
    if (!p.empty())
      sorted.push_back(p[objective]);
  std::ranges::sort(sorted);
  const auto worse = [&](double v) {
    return static_cast<double>(std::ranges::lower_bound(sorted, v) - sorted.begin());
  };
  const auto most = sorted.empty() ? 0 : worse(sorted.back());
  for (auto& p : all)
    if (!p.empty())
      p[objective] = most > 0 ? worse(p[objective]) / most : 1;
}

} // namespace

expected<objective> objective_of(const table_description& d,
                                 std::span<const aim> others) {
  auto goal = d.objective;
  for (const auto& o : others) {
    const bool there =
        std::ranges::find(d.metrics, o.metric, &table_metric::name) != d.metrics.end();
    if (!there || o.metric.starts_with("test."))
      return fail(error_kind::invalid_input,
                  fmt::format("{}{}; it has {}", d.name,
                              there ? fmt::format(" keeps {} for the end", o.metric)
                                    : " has no metric " + o.metric,
                              names_of(d)));
    if (asks_for(goal, o.metric))
      return fail(error_kind::invalid_input,
                  fmt::format("{} is searched by {} already; name another metric, of {}",
                              d.name, o.metric, names_of(d)));
    goal.others.push_back(o);
  }
  return goal;
}

expected<table_front> front_of(const benchmark_table& table, const objective& goal) {
  const auto aims = aims_of(goal);
  std::vector<std::size_t> metrics;
  for (const auto& a : aims) {
    const auto found = table.metric(truth_of(table.description(), a.metric));
    if (!found)
      return fail(error_kind::invalid_input,
                  fmt::format("{} has no metric {}", table.description().name, a.metric));
    metrics.push_back(*found);
  }
  table_front all;
  for (std::uint32_t row = 0; row < table.rows(); ++row)
    all.truths.push_back(raised(table, row, aims, metrics));
  for (std::size_t i = 0; i < aims.size(); ++i)
    scale(all.truths, i);
  auto there = all.truths;
  std::erase_if(there, [](const objective_point& p) { return p.empty(); });
  if (there.empty())
    return fail(error_kind::invalid_input,
                fmt::format("{}: no row has a finite value of {}",
                            table.description().name, to_text(goal)));
  all.hypervolume = hypervolume(std::move(there), objective_point(aims.size(), 0));
  return all;
}

void found_front::add(std::uint32_t row) {
  const auto& own = all_.truths[row];
  const auto covered = [&](const objective_point& other) {
    return other == own || dominates(other, own);
  };
  if (own.empty() || std::ranges::any_of(front_, covered))
    return;
  std::erase_if(front_,
                [&](const objective_point& other) { return dominates(own, other); });
  front_.push_back(own);
  hypervolume_ = hypervolume(front_, objective_point(own.size(), 0));
}

} // namespace clade
