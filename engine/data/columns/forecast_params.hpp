#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace clade {

/// The settings of a table of series with a row for each step. With a horizon, their next
/// values are to be forecast; without one, each series is an example and has one target, and
/// `series` says which columns tell them apart.
struct forecast_params {
  std::uint64_t horizon = 0; ///< So many steps are forecast; 0: none.
  std::string time;          ///< The column of times; empty: rows are in order of time.
  /// The columns that tell series apart; none: there is one, or without a horizon, none.
  std::vector<std::string> series;
  std::uint64_t season = 0; ///< Steps; 0: what is usual for such steps.
  std::string step; ///< `time_grid::step_length` that series must have; empty: any.
  /// The columns that are known of steps to be forecast.
  std::vector<std::string> known;
  /// The last `horizon` steps of each series of a new file are forecast from those before
  /// them, so that the forecasts can be compared with them.
  bool hold_back = false;

  /// Whether each series of a table is an example (long_table.hpp).
  [[nodiscard]] bool of_examples() const { return horizon == 0 && !series.empty(); }

  friend bool operator==(const forecast_params&, const forecast_params&) = default;
};

} // namespace clade
