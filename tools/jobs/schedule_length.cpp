#include "tools/jobs/schedule_length.hpp"

#include <algorithm>
#include <numeric>

namespace clade {

double schedule_length(std::span<const double> seconds, std::size_t slots) {
  std::vector<double> ends(std::max<std::size_t>(slots, 1));
  for (const double s : seconds)
    *std::ranges::min_element(ends) += s;
  return std::ranges::max(ends);
}

double shortest_schedule(std::span<const double> seconds, std::size_t slots) {
  if (seconds.empty())
    return 0;
  const auto all = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  return std::max(std::ranges::max(seconds),
                  all / static_cast<double>(std::max<std::size_t>(slots, 1)));
}

} // namespace clade
