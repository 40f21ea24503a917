#include "engine/telemetry/slots.hpp"

#include "engine/report/format.hpp"

#include <cmath>
#include <cstdio>

namespace clade {

std::string to_text(const team_share& t) {
  char rates[64];
  std::snprintf(rates, sizeof(rates), ", %.1f steps/s, ", t.steps);
  return std::to_string(t.member) + " of " + std::to_string(t.members) + rates
         + size_text(static_cast<std::uint64_t>(t.bytes)) + "/s, waits "
         + std::to_string(std::lround(100 * t.waits)) + " %";
}

} // namespace clade
