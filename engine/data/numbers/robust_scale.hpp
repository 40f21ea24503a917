#pragma once

#include <optional>
#include <vector>

namespace clade {

/// The stand-ins for the mean and the deviation of a column with outliers: its median, and
/// the range between its quartiles divided by 1.349, which is the deviation of a normal
/// distribution. Values that are more than `limit` such deviations away are cut off there.
struct robust_scale {
  static constexpr double limit = 10;

  double median = 0, deviation = 1;

  /// Returns how many deviations `v` is away from the median.
  [[nodiscard]] double distance(double v) const;
};

/// Returns the robust scale of numbers that need one. They need one where a few of them
/// (one in a hundred at most, or a single one) are beyond the `limit`, and their deviation
/// with these is more than five times that without them. Mean and deviation then say little
/// of the others, which would all but look alike to a network. Fewer than 20 numbers, and
/// numbers whose quartiles are equal, need none.
[[nodiscard]] std::optional<robust_scale> find_robust_scale(std::vector<double> numbers);

} // namespace clade
