#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace clade {

/// A forecast that can be drawn, with what came before it.
struct drawn_forecast {
  std::vector<std::string> series; ///< The key of its series.
  /// The times of the first value, of the last one before the forecast, and of its end.
  std::string from, origin, to;
  std::vector<double> past;           ///< The values up to the origin; NaN is a gap.
  std::uint32_t first = 0, count = 0; ///< The examples that are its steps.

  friend bool operator==(const drawn_forecast&, const drawn_forecast&) = default;
};

/// Examples that are steps of series which are forecast. By example:
struct forecast_steps {
  std::vector<std::uint32_t> ahead; ///< How many steps it is after the origin, from 1.
  /// A target t is the value offset + scale * t of its series.
  std::vector<double> offset, scale;
  std::vector<double> naive; ///< The seasonal naive forecast, as a target.
  /// Some of the test part's, of different series.
  std::vector<drawn_forecast> drawn;

  friend bool operator==(const forecast_steps&, const forecast_steps&) = default;
};

} // namespace clade
