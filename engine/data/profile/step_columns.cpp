#include "engine/data/profile/step_columns.hpp"

#include "engine/data/bytes/in_quotes.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

namespace clade {
namespace {

constexpr std::size_t least_steps = 20;

/// A name that ends with a number.
struct counted_name {
  std::string_view word;
  std::optional<std::uint64_t> number;
};

counted_name parted(std::string_view name) {
  constexpr std::size_t most_digits = 9;
  const auto last = name.find_last_not_of("0123456789");
  const auto first = last == std::string_view::npos ? 0 : last + 1;
  if (name.size() - first > most_digits)
    return {name, std::nullopt};
  return {name.substr(0, first), parse_number<std::uint64_t>(name.substr(first))};
}

bool speaks_of_pixels(std::string_view word) {
  std::string small(word);
  std::ranges::transform(small, small.begin(), [](char c) {
    return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  });
  return small.find("pix") != std::string::npos || small.find("px") != std::string::npos;
}

/// Whether no range of values is far beyond that of most.
bool ranges_are_alike(const data_profile& p, const step_columns& steps) {
  constexpr double most = 10;
  std::vector<double> ranges;
  for (std::size_t i = 0; i < steps.count; ++i) {
    const auto& c = p.table.columns[steps.first + i];
    ranges.push_back(c.minimum ? *c.maximum - *c.minimum : 0);
  }
  std::ranges::sort(ranges);
  return ranges.back() <= most * ranges[ranges.size() / 2];
}

/// The mean over rows of the correlation of values that are so many columns apart.
double correlation(std::span<const sampled_column> columns, std::size_t apart) {
  double sum = 0;
  std::size_t rows = 0;
  for (std::size_t row = 0; row < columns.front().numbers.size(); ++row) {
    double mean = 0, squares = 0, products = 0;
    const auto at = [&](std::size_t c) { return columns[c].numbers[row]; };
    for (std::size_t c = 0; c < columns.size(); ++c)
      mean += at(c) / static_cast<double>(columns.size());
    for (std::size_t c = 0; c < columns.size(); ++c)
      squares += (at(c) - mean) * (at(c) - mean) / static_cast<double>(columns.size());
    for (std::size_t c = apart; c < columns.size(); ++c)
      products += (at(c) - mean) * (at(c - apart) - mean)
                  / static_cast<double>(columns.size() - apart);
    if (!(squares > 0) || !std::isfinite(products / squares))
      continue; // All values are the same, or one is missing.
    sum += products / squares;
    ++rows;
  }
  return rows == 0 ? 0 : sum / static_cast<double>(rows);
}

} // namespace

std::optional<step_columns> counted_columns(const data_profile& p) {
  const auto& columns = p.table.columns;
  const auto counts_on = [&](std::size_t i, std::uint64_t by, std::string_view word) {
    const auto [own, number] = parted(columns[i].name);
    return number && own == word && *number == by;
  };
  for (std::size_t first = 0; first + least_steps <= columns.size();) {
    const auto [word, number] = parted(columns[first].name);
    step_columns found{.first = first, .count = 0};
    while (number && first + found.count < columns.size()) {
      const std::size_t i = first + found.count;
      const auto& c = columns[i];
      if (p.is_apart(i) || c.values() == 0 || c.numbers != c.values()
          || c.kind == column_kind::date || !counts_on(i, *number + found.count, word))
        break;
      ++found.count;
    }
    if (found.count >= least_steps)
      return speaks_of_pixels(word) || !ranges_are_alike(p, found) ? std::nullopt
                                                                   : std::optional(found);
    first += std::max<std::size_t>(found.count, 1);
  }
  return std::nullopt;
}

bool go_on(std::span<const sampled_column> columns) {
  constexpr double clear = 0.7, again = 0.1;
  if (columns.size() < least_steps || correlation(columns, 1) < clear)
    return false;
  const auto side = static_cast<std::size_t>(
      std::lround(std::sqrt(static_cast<double>(columns.size()))));
  return side * side != columns.size()
         || correlation(columns, side) <= correlation(columns, side / 2) + again;
}

expected<void> take_steps(data_profile& p, row_rule rows,
                          const std::function<std::vector<sampled_column>()>& sampled) {
  if (rows == row_rule::columns)
    return {};
  const bool asked = rows == row_rule::series;
  const auto steps = counted_columns(p);
  if (!steps)
    return asked
               ? fail(error_kind::invalid_input,
                      "--layout series is for 20 columns of numbers at least, side by "
                      "side, whose names count up, such as t0, t1, t2; for other columns "
                      "write shape = [steps, 1] into the experiment")
               : expected<void>();
  if (!asked) {
    auto sample = sampled();
    for (std::size_t i = 0; i < sample.size(); ++i)
      sample[i].number = sample[i].number && steps->has(i);
    std::erase_if(sample, [](const sampled_column& c) { return !c.number; });
    if (!go_on(sample))
      return {};
  }
  const auto ends = fmt::format("{} to {}", p.label(steps->first),
                                p.label(steps->first + steps->count - 1));
  for (std::size_t i = 0; i < p.table.columns.size(); ++i)
    if (!p.is_apart(i) && !steps->has(i)
        && use_of(p.table.columns[i]).ignored == ignore_reason::none) {
      if (asked)
        return fail(error_kind::invalid_input,
                    fmt::format("--layout series takes {} for steps, and {} is no step; "
                                "leave that column out of the file",
                                ends, in_quotes(p.label(i))));
      p.note(
          fmt::format("{} look like the {} steps of a series in each row; to learn from "
                      "them as such, leave {} and other columns out of the file",
                      ends, steps->count, in_quotes(p.label(i))));
      return {};
    }
  p.steps = *steps;
  p.note(
      fmt::format("{} are taken for the {} steps of a series in each row; --layout table "
                  "(or no shape in the experiment) takes them for columns",
                  ends, steps->count));
  return {};
}

} // namespace clade
