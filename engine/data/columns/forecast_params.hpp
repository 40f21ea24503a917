#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace clade {

/// The settings of a table of series whose next values are to be forecast.
struct forecast_params {
  std::uint64_t horizon = 0; ///< So many steps are forecast; 0: the table is no such one.
  std::string time;          ///< The column of times; empty: rows are in order of time.
  /// The columns that tell series apart; none: there is one.
  std::vector<std::string> series;
  std::uint64_t season = 0; ///< Steps; 0: what is usual for such steps.
  /// The columns that are known of steps to be forecast.
  std::vector<std::string> known;

  friend bool operator==(const forecast_params&, const forecast_params&) = default;
};

} // namespace clade
