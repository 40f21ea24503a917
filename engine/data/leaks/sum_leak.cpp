// Forward selection ("orthogonal matching pursuit": Pati et al., 1993): the column that
// correlates most with what is left of the target joins, and all that joined are fitted
// again by least squares, over even rows. It ends when odd rows are predicted; then those
// go that are not needed. A product is the same for logarithms.

#include "engine/data/leaks/sum_leak.hpp"

#include <algorithm>
#include <cmath>

namespace clade {
namespace {

constexpr std::size_t least_rows = 50, most_columns = 6;
constexpr double enough_of_one = 0.999, enough = 0.9999;

using numbers = std::vector<double>;

/// The columns that are numbers, in the scale in which they are added.
struct scaled_columns {
  std::vector<numbers> features; ///< Empty: not to be used.
  numbers target;

  [[nodiscard]] bool usable(std::span<const std::size_t> chosen, std::size_t row) const {
    return std::isfinite(target[row]) && std::ranges::all_of(chosen, [&](std::size_t i) {
             return std::isfinite(features[i][row]);
           });
  }
};

/// A weighted sum: `offset` + the sum of weight * (value - mean).
struct weighted_sum {
  double offset = 0;
  numbers means, weights;
};

double mean_of(const numbers& values, std::span<const std::size_t> rows) {
  double sum = 0;
  for (const std::size_t row : rows)
    sum += values[row];
  return sum / static_cast<double>(rows.size());
}

/// Solves `a` x = b by elimination with pivots; nothing where columns depend on others.
std::optional<numbers> solve(std::vector<numbers> a, numbers b) {
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; ++i)
      if (std::abs(a[i][k]) > std::abs(a[pivot][k]))
        pivot = i;
    if (!(std::abs(a[pivot][k]) > 1e-12))
      return std::nullopt;
    std::swap(a[k], a[pivot]);
    std::swap(b[k], b[pivot]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = a[i][k] / a[k][k];
      for (std::size_t j = k; j < n; ++j)
        a[i][j] -= factor * a[k][j];
      b[i] -= factor * b[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j)
      b[k] -= a[k][j] * b[j];
    b[k] /= a[k][k];
  }
  return b;
}

std::optional<weighted_sum> fit(const scaled_columns& c,
                                std::span<const std::size_t> chosen,
                                std::span<const std::size_t> rows) {
  const std::size_t n = chosen.size();
  weighted_sum out{.offset = mean_of(c.target, rows), .means = {}, .weights = {}};
  numbers scales;
  for (const std::size_t i : chosen) {
    out.means.push_back(mean_of(c.features[i], rows));
    double squares = 0;
    for (const std::size_t row : rows)
      squares += std::pow(c.features[i][row] - out.means.back(), 2);
    scales.push_back(std::sqrt(squares / static_cast<double>(rows.size())));
    if (!(scales.back() > 0) || !std::isfinite(scales.back()))
      return std::nullopt;
  }
  std::vector<numbers> products(n, numbers(n, 0));
  numbers with_target(n, 0);
  for (const std::size_t row : rows)
    for (std::size_t k = 0; k < n; ++k) {
      const double v = (c.features[chosen[k]][row] - out.means[k]) / scales[k];
      with_target[k] += v * (c.target[row] - out.offset);
      for (std::size_t j = 0; j <= k; ++j)
        products[k][j] += v * (c.features[chosen[j]][row] - out.means[j]) / scales[j];
    }
  const auto all = static_cast<double>(rows.size());
  for (std::size_t k = 0; k < n; ++k) {
    with_target[k] /= all;
    for (std::size_t j = 0; j <= k; ++j)
      products[j][k] = products[k][j] = products[k][j] / all;
  }
  auto weights = solve(std::move(products), std::move(with_target));
  if (!weights)
    return std::nullopt;
  for (std::size_t k = 0; k < n; ++k)
    (*weights)[k] /= scales[k];
  out.weights = std::move(*weights);
  return out;
}

double predicted(const scaled_columns& c, std::span<const std::size_t> chosen,
                 const weighted_sum& by, std::size_t row) {
  double sum = by.offset;
  for (std::size_t k = 0; k < chosen.size(); ++k)
    sum += by.weights[k] * (c.features[chosen[k]][row] - by.means[k]);
  return sum;
}

std::vector<std::size_t> rows_of(const scaled_columns& c,
                                 std::span<const std::size_t> chosen, std::size_t first) {
  std::vector<std::size_t> rows;
  for (std::size_t row = first; row < c.target.size(); row += 2)
    if (c.usable(chosen, row))
      rows.push_back(row);
  return rows;
}

/// How well odd rows are predicted by the columns, fitted to even rows; 0: not at all.
double share_of(const scaled_columns& c, std::span<const std::size_t> chosen) {
  const auto seen = rows_of(c, chosen, 0), unseen = rows_of(c, chosen, 1);
  if (seen.size() < std::max(least_rows / 2, 3 * chosen.size())
      || unseen.size() < least_rows / 2)
    return 0;
  const auto by = fit(c, chosen, seen);
  if (!by)
    return 0;
  double wrong = 0, without = 0;
  for (const std::size_t row : unseen) {
    wrong += std::pow(c.target[row] - predicted(c, chosen, *by, row), 2);
    without += std::pow(c.target[row] - by->offset, 2);
  }
  return without > 0 && std::isfinite(wrong) ? 1 - wrong / without : 0;
}

bool suffices(double share, std::size_t columns) {
  return share >= (columns == 1 ? enough_of_one : enough);
}

/// Returns the rest of the target in even rows that the columns leave; NaN if they say
/// nothing.
numbers rest_of(const scaled_columns& c, std::span<const std::size_t> chosen) {
  numbers rest(c.target.size(), std::nan(""));
  const auto rows = rows_of(c, chosen, 0);
  const auto by = rows.empty() ? std::nullopt : fit(c, chosen, rows);
  if (by)
    for (const std::size_t row : rows)
      rest[row] = c.target[row] - predicted(c, chosen, *by, row);
  return rest;
}

/// The square of the correlation in even rows.
double correlation(const numbers& a, const numbers& b) {
  double n = 0, sa = 0, sb = 0;
  for (std::size_t row = 0; row < a.size(); row += 2)
    if (std::isfinite(a[row]) && std::isfinite(b[row]))
      ++n, sa += a[row], sb += b[row];
  double aa = 0, bb = 0, ab = 0;
  for (std::size_t row = 0; row < a.size(); row += 2)
    if (std::isfinite(a[row]) && std::isfinite(b[row])) {
      const double da = a[row] - sa / n, db = b[row] - sb / n;
      aa += da * da, bb += db * db, ab += da * db;
    }
  const double share = ab / aa * (ab / bb);
  return n >= static_cast<double>(least_rows) / 2 && std::isfinite(share) ? share : 0;
}

std::optional<std::size_t> best_column(const scaled_columns& c,
                                       std::span<const std::size_t> chosen) {
  const auto rest = rest_of(c, chosen);
  std::optional<std::size_t> best;
  double most = 0;
  for (std::size_t i = 0; i < c.features.size(); ++i) {
    if (c.features[i].empty() || std::ranges::find(chosen, i) != chosen.end())
      continue;
    if (const double r = correlation(c.features[i], rest); r > most)
      most = r, best = i;
  }
  return best;
}

std::vector<std::size_t> needed_of(const scaled_columns& c,
                                   std::vector<std::size_t> chosen) {
  for (std::size_t k = chosen.size(); k-- > 0 && chosen.size() > 1;) {
    auto fewer = chosen;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(k));
    if (suffices(share_of(c, fewer), fewer.size()))
      chosen = std::move(fewer);
  }
  std::ranges::sort(chosen);
  return chosen;
}

std::optional<sum_leak> find(const scaled_columns& c) {
  std::vector<std::size_t> chosen;
  while (chosen.size() < most_columns) {
    const auto next = best_column(c, chosen);
    if (!next)
      return std::nullopt;
    chosen.push_back(*next);
    if (suffices(share_of(c, chosen), chosen.size())) {
      chosen = needed_of(c, std::move(chosen));
      const double share = share_of(c, chosen);
      return sum_leak{.columns = std::move(chosen), .share = share};
    }
  }
  return std::nullopt;
}

/// The logarithms; empty where a number has none.
numbers logarithms(const numbers& values) {
  numbers out = values;
  for (double& v : out) {
    if (v <= 0)
      return {};
    v = std::log(v);
  }
  return out;
}

} // namespace

std::optional<sum_leak> adds_up(std::span<const sampled_column> features,
                                const sampled_column& target) {
  if (!target.number || target.numbers.size() < least_rows)
    return std::nullopt;
  scaled_columns c{.features = {}, .target = target.numbers};
  for (const sampled_column& f : features)
    c.features.push_back(f.number ? f.numbers : numbers());
  if (auto found = find(c))
    return found;
  c.target = logarithms(c.target);
  if (c.target.empty())
    return std::nullopt;
  for (numbers& values : c.features)
    values = logarithms(values);
  auto found = find(c);
  if (found)
    found->multiplied = true;
  return found;
}

} // namespace clade
