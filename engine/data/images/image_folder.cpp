#include "engine/data/images/image_folder.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace clade {
namespace {

std::size_t middle_of(std::vector<std::size_t> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

} // namespace

tensor_shape shape_for(const std::vector<seen_image>& seen) {
  constexpr std::size_t small = 64, least = 8;
  constexpr double most_together = 25e6;
  constexpr std::array<std::size_t, 8> sides{224, 192, 160, 128, 96, 64, 48, 32};
  std::vector<std::size_t> heights, widths;
  bool grey = true;
  for (const seen_image& s : seen)
    if (s.problem.empty()) {
      heights.push_back(s.header.height);
      widths.push_back(s.header.width);
      grey = grey && s.header.grey;
    }
  const std::int64_t channels = grey && !heights.empty() ? 1 : 3;
  const auto shape = [&](std::size_t h, std::size_t w) {
    return tensor_shape{
        {channels, static_cast<std::int64_t>(h), static_cast<std::int64_t>(w)}};
  };
  if (heights.empty())
    return shape(sides.back(), sides.back());
  const auto all_same = [](const std::vector<std::size_t>& v) {
    return std::ranges::all_of(v, [&](std::size_t one) { return one == v.front(); });
  };
  if (all_same(heights) && all_same(widths)
      && std::max(heights.front(), widths.front()) <= small)
    return shape(heights.front(), widths.front());
  const double height = static_cast<double>(middle_of(heights)),
               width = static_cast<double>(middle_of(widths));
  const double natural = std::sqrt(height * width);
  const auto fits = [&](std::size_t side) {
    const auto s = static_cast<double>(side);
    return s <= natural && s * s * static_cast<double>(heights.size()) <= most_together;
  };
  const auto found = std::ranges::find_if(sides, fits);
  const std::size_t side = found == sides.end() ? sides.back() : *found;
  constexpr double much_longer = 1.6;
  if (std::max(height, width) < much_longer * std::min(height, width))
    return shape(side, side);
  const auto scaled = [&](double length) {
    const double s = static_cast<double>(side) * length / natural;
    return std::max(least, static_cast<std::size_t>(std::lround(s / least)) * least);
  };
  return shape(scaled(height), scaled(width));
}

} // namespace clade
