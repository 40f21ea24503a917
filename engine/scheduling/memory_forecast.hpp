#pragma once

#include <cstdint>

namespace clade {

/// A forecast of the memory that a candidate will need, from the estimate for it and the
/// needs of earlier ones: the line of least squares through the logarithms of (estimated,
/// measured), a quarter of a standard deviation above it. An estimate alone counts until
/// there are eight.
class memory_forecast {
public:
  /// An estimate or a measurement of 0 bytes tells nothing.
  void observe(std::uint64_t estimated_bytes, std::uint64_t measured_bytes);

  /// Bytes; 0 for an estimate of 0, which is of a candidate that needs none.
  [[nodiscard]] std::uint64_t need(std::uint64_t estimated_bytes) const;

private:
  double count_ = 0;
  double mean_x_ = 0, mean_y_ = 0;  ///< The means of logarithms.
  double xx_ = 0, xy_ = 0, yy_ = 0; ///< Sums of products of deviations from the means.
};

} // namespace clade
