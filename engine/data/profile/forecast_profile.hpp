#pragma once

#include "engine/data/forecast/window_table.hpp"
#include "engine/data/profile/data_profile.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// Says what is forecast, and how well simple forecasts do it on the test part, a line
/// each.
[[nodiscard]] std::vector<std::string> forecast_notes(const history& from,
                                                      const window_table& windows,
                                                      const forecast_params& params);

/// Returns the column of dates, or else one that is named like times; empty: there is none.
[[nodiscard]] std::string guess_time(const data_profile& p);

/// Fills in what `p.forecast` leaves open of a table of series, whose columns and target
/// are known: the column of times, those that tell series apart, those known ahead, and
/// the season. `text` is that of the file; `said` says how it is read. Errors are those of
/// reading the series; besides, that no columns tell them apart.
[[nodiscard]] expected<void> profile_forecast(data_profile& p, std::string_view text,
                                              const data_params& said);

} // namespace clade
