#pragma once

#include "engine/telemetry/picture/slots.hpp"

#include <cstdint>

namespace clade {

/// The work that a node has done of a team's task since it began.
struct team_work {
  std::uint64_t exchanges = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t waited_us = 0;
  std::uint64_t time_us = 0;
};

/// Brings the rates of a share up to date, from what its node told last and tells now. The
/// first that comes of a task says only where counting begins.
void add_work(team_share& share, const team_work& before, const team_work& now);

} // namespace clade
