#include "engine/report/base/format.hpp"
#include "engine/report/base/json_fields.hpp"
#include "engine/simulation/search_statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <iterator>

namespace clade {

namespace {

std::string number(double v, const char* form) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), form, v);
  return text.data();
}

/// Three significant digits, and the interval with as many decimals.
std::string interval_text(const mean_interval& m) {
  const int size = m.mean > 0 ? static_cast<int>(std::floor(std::log10(m.mean))) : 0;
  if (size < -4 || size > 6)
    return fmt::format("{} +-{}", number(m.mean, "%.2e"), number(m.half, "%.0e"));
  const auto form = fmt::format("%.{}f", std::max(0, 2 - size));
  return fmt::format("{} +-{}", number(m.mean, form.c_str()),
                     number(m.half, form.c_str()));
}

table columns(const search_comparison& c, std::size_t more) {
  std::vector<table::align> aligned(1 + c.checkpoints.size() + more, table::align::right);
  aligned.front() = table::align::left;
  return table(std::move(aligned));
}

std::vector<std::string> heading(const search_comparison& c, std::string first) {
  std::vector<std::string> cells{std::move(first)};
  for (const auto at : c.checkpoints)
    cells.push_back(fmt::format("after {}", at));
  return cells;
}

/// The evaluations, or that there were too few of them.
std::string evaluations_text(const std::optional<double>& at,
                             const search_comparison& c) {
  return at ? number(*at, "%g") : fmt::format("> {}", c.evaluations);
}

std::string share_text(const evaluations_until& found, const search_row& row) {
  return number(100.0 * static_cast<double>(found.seeds)
                    / static_cast<double>(row.regret_of_seeds.front().size()),
                "%.0f %%");
}

/// Median, mean and share of the seeds that found the best.
std::vector<std::string> best_cells(const search_row& row, const search_comparison& c) {
  if (!row.best)
    return {"-", "-", "-"};
  return {evaluations_text(row.best->median, c), evaluations_text(row.best->mean, c),
          share_text(*row.best, row)};
}

/// How many evaluations each row takes to what the yardstick has.
std::string text_of_yardstick(const search_comparison& c, const search_table_rows& t) {
  const auto by = std::ranges::find(t.rows, c.yardstick, &search_row::name);
  if (by == t.rows.end() || t.rows.size() < 2)
    return "";
  auto lines = columns(c, 0);
  lines.add(heading(c, "as " + c.yardstick));
  for (const auto& row : t.rows) {
    if (row.curve.empty())
      continue; // Another program's, of which only the checkpoints are known.
    std::vector<std::string> cells{row.name};
    for (const auto& at : by->regret) {
      const auto n = evaluations_to(row, at.mean);
      cells.push_back(n ? std::to_string(*n) : fmt::format("> {}", c.evaluations));
    }
    if (&row != &*by)
      lines.add(std::move(cells));
  }
  return lines.to_text(2);
}

std::string text_of_table(const search_comparison& c, const search_table_rows& t) {
  auto lines = columns(c, 7);
  auto head = heading(c, c.of_fronts ? "hypervolume regret" : "mean regret");
  for (const char* name : {"to a top row", "reached", "to the best", "mean", "reached",
                           "ask mean", "ask max"})
    head.emplace_back(name);
  lines.add(std::move(head));
  for (const auto& row : t.rows) {
    std::vector<std::string> cells{row.name};
    for (const auto& at : row.regret)
      cells.push_back(interval_text(at));
    cells.push_back(evaluations_text(row.top.median, c));
    cells.push_back(share_text(row.top, row));
    std::ranges::move(best_cells(row, c), std::back_inserter(cells));
    cells.push_back(number(1e3 * row.ask_mean_seconds, "%.3f ms"));
    cells.push_back(number(1e3 * row.ask_max_seconds, "%.2f ms"));
    lines.add(std::move(cells));
  }
  return fmt::format("{}\n{}{}", t.name, lines.to_text(2), text_of_yardstick(c, t));
}

/// A line for each row that is on every table; `ranks`: of all these at a checkpoint.
template<class Ranks, class Text>
std::string text_of_ranks(const search_comparison& c, Ranks ranks, Text text) {
  auto lines = columns(c, 0);
  lines.add(heading(c, "mean rank"));
  std::vector<decltype(ranks(c, std::size_t{0}))> all;
  for (std::size_t i = 0; i < c.checkpoints.size(); ++i)
    all.push_back(ranks(c, i));
  const auto names = everywhere(c);
  for (std::size_t row = 0; row < names.size(); ++row) {
    std::vector<std::string> cells{names[row]};
    for (const auto& at : all)
      cells.push_back(text(at[row]));
    lines.add(std::move(cells));
  }
  return lines.to_text(2);
}

/// Ranks among the searches of one table and seed.
std::string text_of_searches(const search_comparison& c) {
  std::size_t searches = 0;
  for (const auto& t : c.tables)
    searches += common_seeds(t, 0);
  return fmt::format(
      "of {} searches each, among those of the same table and seed\n{}", searches,
      text_of_ranks(c, search_ranks, [](const mean_interval& at) {
        return fmt::format("{} +-{}", number(at.mean, "%.2f"), number(at.half, "%.2f"));
      }));
}

} // namespace

std::string to_text(const search_comparison& c) {
  std::string text;
  for (const auto& t : c.tables)
    text += text_of_table(c, t) + "\n";
  if (c.tables.empty())
    return text;
  return fmt::format(
      "{}over {}{}{} seeds each\n{}{}", text, c.tables.size(),
      c.tables.size() == 1 ? " table, " : " tables, ", c.seeds,
      text_of_ranks(c, mean_ranks, [](double at) { return number(at, "%.2f"); }),
      text_of_searches(c));
}

std::string to_json(const search_comparison& c) {
  ordered_json out{{"seeds", c.seeds},
                   {"evaluations", c.evaluations},
                   {"checkpoints", c.checkpoints},
                   {"measure", c.of_fronts ? "hypervolume regret" : "regret"},
                   {"tables", ordered_json::array()},
                   {"mean_ranks", ordered_json::object()},
                   {"search_ranks", ordered_json::object()}};
  const auto names = everywhere(c);
  for (const auto& t : c.tables) {
    const auto by = std::ranges::find(t.rows, c.yardstick, &search_row::name);
    auto rows = ordered_json::array();
    for (const auto& row : t.rows) {
      rows.push_back({{"name", row.name},
                      {"regret", json_of(row.regret, &mean_interval::mean)},
                      {"interval", json_of(row.regret, &mean_interval::half)},
                      {"median_to_top", some(row.top.median)},
                      {"reached_top", row.top.seeds},
                      {"ask_mean_ms", 1e3 * row.ask_mean_seconds},
                      {"ask_max_ms", 1e3 * row.ask_max_seconds},
                      {"regret_of_seeds", row.regret_of_seeds}});
      if (row.best)
        rows.back().update({{"median_to_best", some(row.best->median)},
                            {"mean_to_best", some(row.best->mean)},
                            {"reached_best", row.best->seeds}});
      if (by == t.rows.end() || row.curve.empty())
        continue;
      rows.back()["as_" + c.yardstick] = json_of(
          by->regret, [&](const auto& at) { return some(evaluations_to(row, at.mean)); });
    }
    out["tables"].push_back({{"name", t.name}, {"rows", std::move(rows)}});
  }
  for (std::size_t i = 0; i < c.checkpoints.size(); ++i) {
    const auto ranks = mean_ranks(c, i);
    for (std::size_t row = 0; row < ranks.size(); ++row)
      out["mean_ranks"][names[row]].push_back(ranks[row]);
    const auto of_searches = search_ranks(c, i);
    for (std::size_t row = 0; row < of_searches.size(); ++row) {
      auto& ranked = out["search_ranks"][names[row]];
      ranked["mean"].push_back(of_searches[row].mean);
      ranked["interval"].push_back(of_searches[row].half);
    }
  }
  return text_of(out);
}

} // namespace clade
