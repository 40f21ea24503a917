#include "engine/simulation/search_statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace clade {

double student_quantile(std::size_t degrees_of_freedom) {
  // Exact for the few, where the expansion is not (Abramowitz and Stegun, 26.7.5).
  constexpr double few[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306};
  if (degrees_of_freedom == 0)
    return 0;
  if (degrees_of_freedom <= std::size(few))
    return few[degrees_of_freedom - 1];
  constexpr double z = 1.959963985;
  const auto n = static_cast<double>(degrees_of_freedom);
  const double z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
  return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n)
         + (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * n * n * n);
}

mean_interval mean_of(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double v : values)
    squares += (v - mean) * (v - mean);
  if (values.size() < 2)
    return {mean, 0};
  return {mean, student_quantile(values.size() - 1) * std::sqrt(squares / (n - 1) / n)};
}

std::optional<double> median_of(std::vector<std::optional<double>> values) {
  if (values.empty())
    return std::nullopt;
  std::ranges::sort(values,
                    [](const auto& a, const auto& b) { return a && (!b || *a < *b); });
  const auto& low = values[(values.size() - 1) / 2];
  const auto& high = values[values.size() / 2];
  if (!low || !high)
    return std::nullopt;
  return (*low + *high) / 2;
}

std::vector<double> ranks_of(std::span<const double> values) {
  std::vector<double> ranks;
  for (const double v : values) {
    const auto below = std::ranges::count_if(values, [&](double o) { return o < v; });
    const auto equal = std::ranges::count(values, v);
    ranks.push_back(static_cast<double>(below) + (static_cast<double>(equal) + 1) / 2);
  }
  return ranks;
}

evaluations_until until_of(std::vector<std::optional<double>> seeds) {
  evaluations_until u;
  double sum = 0;
  for (const auto& s : seeds) {
    u.seeds += s ? 1 : 0;
    sum += s.value_or(0);
  }
  if (u.seeds > 0 && u.seeds == seeds.size())
    u.mean = sum / static_cast<double>(u.seeds);
  u.median = median_of(std::move(seeds));
  return u;
}

search_row row_of(std::string name, std::span<const search_outcome> seeds,
                  std::span<const std::size_t> checkpoints) {
  search_row row{.name = std::move(name)};
  for (const auto at : checkpoints) {
    std::vector<double> values;
    for (const auto& s : seeds)
      values.push_back(s.regret[at - 1]);
    row.regret.push_back(mean_of(values));
    row.regret_of_seeds.push_back(std::move(values));
  }
  for (std::size_t at = 0; !seeds.empty() && at < seeds.front().regret.size(); ++at) {
    double sum = 0;
    for (const auto& s : seeds)
      sum += s.regret[at];
    row.curve.push_back(sum / static_cast<double>(seeds.size()));
  }
  std::vector<std::optional<double>> top, best;
  for (const auto& s : seeds) {
    top.push_back(s.first_top);
    best.push_back(s.first_best);
    row.ask_mean_seconds += s.ask_mean_seconds / static_cast<double>(seeds.size());
    row.ask_max_seconds = std::max(row.ask_max_seconds, s.ask_max_seconds);
  }
  row.top = until_of(std::move(top));
  row.best = until_of(std::move(best));
  return row;
}

std::optional<std::size_t> evaluations_to(const search_row& row, double regret) {
  const auto found =
      std::ranges::find_if(row.curve, [&](double r) { return r <= regret; });
  if (found == row.curve.end())
    return std::nullopt;
  return static_cast<std::size_t>(found - row.curve.begin()) + 1;
}

std::vector<std::string> everywhere(const search_comparison& c) {
  std::vector<std::string> names;
  if (c.tables.empty())
    return names;
  for (const auto& row : c.tables.front().rows)
    if (std::ranges::all_of(c.tables, [&](const search_table_rows& t) {
          return std::ranges::find(t.rows, row.name, &search_row::name) != t.rows.end();
        }))
      names.push_back(row.name);
  return names;
}

std::vector<double> mean_ranks(const search_comparison& c, std::size_t checkpoint) {
  const auto names = everywhere(c);
  std::vector<double> sums(names.size());
  for (const auto& t : c.tables) {
    std::vector<double> regrets;
    for (const auto& name : names)
      regrets.push_back(
          std::ranges::find(t.rows, name, &search_row::name)->regret[checkpoint].mean);
    const auto ranks = ranks_of(regrets);
    for (std::size_t i = 0; i < ranks.size(); ++i)
      sums[i] += ranks[i] / static_cast<double>(c.tables.size());
  }
  return sums;
}

std::size_t common_seeds(const search_table_rows& t, std::size_t checkpoint) {
  const auto least = std::ranges::min_element(t.rows, {}, [&](const search_row& row) {
    return row.regret_of_seeds[checkpoint].size();
  });
  return least == t.rows.end() ? 0 : least->regret_of_seeds[checkpoint].size();
}

std::vector<mean_interval> search_ranks(const search_comparison& c,
                                        std::size_t checkpoint) {
  const auto names = everywhere(c);
  std::vector<std::vector<double>> ranks(names.size());
  for (const auto& t : c.tables) {
    std::vector<const std::vector<double>*> rows;
    for (const auto& name : names)
      rows.push_back(&std::ranges::find(t.rows, name, &search_row::name)
                          ->regret_of_seeds[checkpoint]);
    const auto seeds = names.empty() ? 0 : common_seeds(t, checkpoint);
    for (std::size_t seed = 0; seed < seeds; ++seed) {
      std::vector<double> regrets;
      for (const auto* row : rows)
        regrets.push_back((*row)[seed]);
      const auto of_seed = ranks_of(regrets);
      for (std::size_t i = 0; i < ranks.size(); ++i)
        ranks[i].push_back(of_seed[i]);
    }
  }
  std::vector<mean_interval> means;
  for (const auto& of_row : ranks)
    means.push_back(mean_of(of_row));
  return means;
}

expected<search_comparison> joined(search_comparison a, search_comparison b,
                                   const std::string& origin) {
  if (a.checkpoints != b.checkpoints)
    return fail(error_kind::invalid_input,
                origin
                    + ": has other checkpoints than the file before it; run both with "
                      "the same --evaluations");
  for (auto& t : b.tables) {
    const auto found = std::ranges::find(a.tables, t.name, &search_table_rows::name);
    if (found == a.tables.end())
      a.tables.push_back(std::move(t));
    else
      found->rows.insert(found->rows.end(), t.rows.begin(), t.rows.end());
  }
  a.seeds = std::max(a.seeds, b.seeds);
  return a;
}

expected<void> add_rows(search_comparison& c, const search_comparison& other,
                        const std::string& origin) {
  std::vector<std::size_t> places;
  for (const auto at : c.checkpoints) {
    const auto found = std::ranges::find(other.checkpoints, at);
    if (found == other.checkpoints.end())
      return fail(error_kind::invalid_input,
                  fmt::format("{}: says nothing of the regret after {} evaluations; "
                              "compare with --evaluations {}",
                              origin, at, other.evaluations));
    places.push_back(static_cast<std::size_t>(found - other.checkpoints.begin()));
  }
  auto tables = c.tables;
  for (auto& t : tables) {
    const auto found = std::ranges::find(other.tables, t.name, &search_table_rows::name);
    if (found == other.tables.end() || found->rows.empty())
      return fail(
          error_kind::invalid_input,
          fmt::format(
              "{}: has no row for the table {}; name with --tables those that it has",
              origin, t.name));
    for (const auto& row : found->rows) {
      auto& added = t.rows.emplace_back(row);
      added.regret.clear();
      added.regret_of_seeds.clear();
      for (const auto place : places) {
        added.regret.push_back(row.regret[place]);
        added.regret_of_seeds.push_back(row.regret_of_seeds[place]);
      }
    }
    if (t.rows.size() != tables.front().rows.size())
      return fail(
          error_kind::invalid_input,
          fmt::format(
              "{}: has other rows for the table {} than for {}, and so no mean ranks",
              origin, t.name, tables.front().name));
    for (std::size_t i = 0; i < t.rows.size(); ++i)
      if (t.rows[i].name != tables.front().rows[i].name)
        return fail(
            error_kind::invalid_input,
            fmt::format("{}: the row \"{}\" of the table {} is called \"{}\" for {}",
                        origin, t.rows[i].name, t.name, tables.front().rows[i].name,
                        tables.front().name));
  }
  c.tables = std::move(tables);
  return {};
}

std::optional<double> regret_ratio(const search_comparison& c, const std::string& of,
                                   const std::string& to) {
  constexpr double least = 1e-3;
  double logs = 0;
  for (const auto& t : c.tables) {
    const auto a = std::ranges::find(t.rows, of, &search_row::name);
    const auto b = std::ranges::find(t.rows, to, &search_row::name);
    if (a == t.rows.end() || b == t.rows.end())
      return std::nullopt;
    const double x = a->regret.back().mean, y = b->regret.back().mean;
    const double greater = std::max(x, y);
    if (greater > 0)
      logs += std::log(std::max(x, least * greater) / std::max(y, least * greater));
  }
  if (c.tables.empty())
    return std::nullopt;
  return std::exp(logs / static_cast<double>(c.tables.size()));
}

} // namespace clade
