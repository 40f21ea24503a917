#pragma once

#include "engine/run/records/test_details.hpp"

#include <string>

namespace clade {

/// Forecasts of some series of the test part beside what came, each with the values before
/// it and its 90 % interval, as SVG with a legend; empty of what is no forecast.
[[nodiscard]] std::string forecast_charts(const test_details& details);

} // namespace clade
