// Point k of the order has the digits d1, d2, ... of k, to the bases of the numbers of
// values, the most values first; parameter j has its value of number
//
//     (d1 + ... + dj) mod its number of values,
//
// its values being shuffled. So parameters step together, and once the first has been
// through all its values, the second is one step ahead of it: every combination comes
// once. If parameters depend on each other, combinations of values that do not apply
// are passed over, all but one of each.
#include "engine/search/models/base/parameter_grid.hpp"

#include "genome/genes/unit_cube.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace clade {

namespace {

std::size_t product(std::size_t a, std::size_t b) {
  return a > most_grid_points / b ? most_grid_points : a * b;
}

/// Counts the settings of the parameters from that place on, beside those before it.
std::size_t count_from(std::size_t place, const std::vector<parameter>& parameters,
                       const std::vector<std::vector<value>>& values,
                       std::vector<setting>& chosen) {
  if (place == parameters.size())
    return 1;
  const auto& p = parameters[place];
  if (!applies(p, chosen))
    return count_from(place + 1, parameters, values, chosen);
  const bool decides = std::ranges::any_of(parameters, [&](const parameter& other) {
    return other.when && other.when->parameter == p.name;
  });
  // If no other depends on it, it need not be gone through.
  const auto& all = values[place];
  std::size_t sum = 0;
  for (std::size_t i = 0; i < (decides ? all.size() : 1); ++i) {
    assign(chosen, p.name, all[i]);
    sum = std::min(most_grid_points,
                   sum + count_from(place + 1, parameters, values, chosen));
  }
  clade::erase(chosen, p.name);
  return decides ? sum : product(sum, all.size());
}

std::vector<std::vector<value>> all_values(const std::vector<parameter>& parameters,
                                           std::size_t points_per_range) {
  std::vector<std::vector<value>> all;
  for (const auto& p : parameters)
    all.push_back(grid_values(p, points_per_range));
  return all;
}

/// The numbers of values of point k, by parameter.
std::vector<std::size_t> numbers_at(std::size_t k, const std::vector<std::size_t>& order,
                                    const std::vector<std::vector<value>>& values) {
  std::vector<std::size_t> numbers(order.size());
  std::size_t sum = 0;
  for (const auto place : order) {
    sum += k % values[place].size();
    k /= values[place].size();
    numbers[place] = sum % values[place].size();
  }
  return numbers;
}

} // namespace

std::vector<value> grid_values(const parameter& p, std::size_t points_per_range) {
  if (const auto* list = std::get_if<choice_domain>(&p.domain))
    return list->options;
  std::vector<value> values;
  for (std::size_t i = 0; i < points_per_range; ++i) {
    const double place =
        points_per_range == 1
            ? 0.5
            : static_cast<double>(i) / static_cast<double>(points_per_range - 1);
    auto v = from_unit(p, place);
    if (values.empty() || values.back() != v)
      values.push_back(std::move(v));
  }
  return values;
}

std::size_t count_grid(const std::vector<parameter>& parameters,
                       std::size_t points_per_range) {
  std::vector<setting> chosen;
  return count_from(0, parameters, all_values(parameters, points_per_range), chosen);
}

std::vector<std::vector<setting>> grid_points(const std::vector<parameter>& parameters,
                                              std::size_t points_per_range,
                                              std::uint64_t seed) {
  auto values = all_values(parameters, points_per_range);
  std::size_t combinations = 1;
  for (std::size_t j = 0; j < values.size(); ++j) {
    auto random = derive(seed, purpose::proposal, 0, j);
    for (auto n = values[j].size(); n > 1; --n)
      std::swap(values[j][n - 1], values[j][random.below(n)]);
    combinations = product(combinations, values[j].size());
  }
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](std::size_t j) { return values[j].size(); });
  std::vector<std::vector<setting>> points;
  for (std::size_t k = 0; k < combinations; ++k) {
    const auto numbers = numbers_at(k, order, values);
    std::vector<setting> point;
    bool first_of_its_kind = true;
    for (std::size_t j = 0; j < parameters.size() && first_of_its_kind; ++j)
      if (applies(parameters[j], point))
        assign(point, parameters[j].name, values[j][numbers[j]]);
      else
        first_of_its_kind = numbers[j] == 0;
    if (first_of_its_kind)
      points.push_back(std::move(point));
  }
  return points;
}

} // namespace clade
