// Even rows are learnt from, odd ones are predicted. The thing learnt is a list of values
// with, for each, the most frequent class or the mean target of its rows.

#include "engine/data/leaks/target_leak.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace clade {
namespace {

constexpr std::size_t least_rows = 50;

/// The rows of one value.
struct group {
  std::map<std::uint64_t, std::size_t> classes;
  double sum = 0;
  std::size_t rows = 0;

  void add(const sampled_column& target, std::size_t row) {
    ++rows;
    if (target.number)
      sum += target.numbers[row];
    else
      ++classes[target.codes[row]];
  }
  [[nodiscard]] double mean() const { return sum / static_cast<double>(rows); }
  [[nodiscard]] std::uint64_t most_frequent() const {
    return std::ranges::max_element(classes, {}, [](const auto& c) { return c.second; })
        ->first;
  }
};

bool is_blank(const sampled_column& c, std::size_t row) {
  return c.number && std::isnan(c.numbers[row]);
}

template<class Key>
const group* find_group(const std::map<Key, group>& groups, Key value, bool nearest) {
  const auto at = groups.lower_bound(value);
  if (at != groups.end() && at->first == value)
    return &at->second;
  if (!nearest || groups.empty())
    return nullptr;
  if (at == groups.begin())
    return &at->second;
  const auto before = std::prev(at);
  if (at == groups.end() || value - before->first < at->first - value)
    return &before->second;
  return &at->second;
}

/// For the odd rows: how many, and how many of them, or how much of their squares, are
/// wrong, by the column and without it.
struct errors {
  std::size_t rows = 0;
  double wrong = 0, wrong_without = 0;
};

template<class Key>
errors predict(const std::vector<Key>& values, const sampled_column& feature,
               const sampled_column& target) {
  std::map<Key, group> groups;
  group all;
  const auto usable = [&](std::size_t row) {
    return !is_blank(feature, row) && !is_blank(target, row);
  };
  for (std::size_t row = 0; row < values.size(); row += 2)
    if (usable(row)) {
      groups[values[row]].add(target, row);
      all.add(target, row);
    }
  errors e;
  if (all.rows == 0)
    return e;
  for (std::size_t row = 1; row < values.size(); row += 2) {
    if (!usable(row))
      continue;
    ++e.rows;
    const group* near = find_group(groups, values[row], feature.number);
    const group& by = near == nullptr ? all : *near;
    if (target.number) {
      e.wrong += std::pow(target.numbers[row] - by.mean(), 2);
      e.wrong_without += std::pow(target.numbers[row] - all.mean(), 2);
    } else {
      e.wrong += by.most_frequent() == target.codes[row] ? 0 : 1;
      e.wrong_without += all.most_frequent() == target.codes[row] ? 0 : 1;
    }
  }
  return e;
}

/// The share of what is right, where it is as high as `least` and the errors are few.
std::optional<double> high_share(const errors& e, bool number, double least) {
  if (e.rows < least_rows / 2 || e.wrong_without == 0 || e.wrong > e.wrong_without / 10)
    return std::nullopt;
  const double right =
      number ? 1 - e.wrong / e.wrong_without : 1 - e.wrong / static_cast<double>(e.rows);
  return right >= least ? std::optional(right) : std::nullopt;
}

} // namespace

std::optional<double> gives_away(const sampled_column& feature,
                                 const sampled_column& target) {
  const auto e = feature.number ? predict(feature.numbers, feature, target)
                                : predict(feature.codes, feature, target);
  return high_share(e, target.number, target.number ? 0.999 : 0.99);
}

std::optional<double> blanks_give_away(const sampled_column& blanks,
                                       const sampled_column& target) {
  if (blanks.codes.empty() || target.number)
    return std::nullopt;
  return high_share(predict(blanks.codes, blanks, target), false, 0.95);
}

} // namespace clade
