#include "engine/scheduling/memory_forecast.hpp"

#include <algorithm>
#include <cmath>

namespace clade {

namespace {

constexpr double least_observations = 8;
constexpr double most_bytes = 1e18;
constexpr double margin = 0.25; // Standard deviations.

} // namespace

void memory_forecast::observe(std::uint64_t estimated_bytes,
                              std::uint64_t measured_bytes) {
  if (estimated_bytes == 0 || measured_bytes == 0)
    return;
  const double x = std::log(static_cast<double>(estimated_bytes));
  const double y = std::log(static_cast<double>(measured_bytes));
  count_ += 1;
  const double dx = x - mean_x_;
  const double dy = y - mean_y_;
  mean_x_ += dx / count_;
  mean_y_ += dy / count_;
  xx_ += dx * (x - mean_x_);
  xy_ += dx * (y - mean_y_);
  yy_ += dy * (y - mean_y_);
}

std::uint64_t memory_forecast::need(std::uint64_t estimated_bytes) const {
  if (estimated_bytes == 0 || count_ < least_observations)
    return estimated_bytes;
  // More memory for a larger network: where measurements say the opposite, they are
  // noise.
  const double slope = xx_ > 0 ? std::max(0.0, xy_ / xx_) : 0.0;
  const double rest = std::max(0.0, yy_ - slope * xy_);
  const double deviation = std::sqrt(rest / (count_ - 2));
  const double x = std::log(static_cast<double>(estimated_bytes));
  const double y = mean_y_ + slope * (x - mean_x_) + margin * deviation;
  return static_cast<std::uint64_t>(std::clamp(std::exp(y), 1.0, most_bytes));
}

} // namespace clade
