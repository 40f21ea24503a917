#include "engine/telemetry/picture/team_work.hpp"

#include <algorithm>

namespace clade {

void add_work(team_share& share, const team_work& before, const team_work& now) {
  if (now.time_us <= before.time_us || now.exchanges < before.exchanges
      || now.waited_us < before.waited_us)
    return;
  const auto seconds = static_cast<double>(now.time_us - before.time_us) / 1e6;
  share.steps = static_cast<double>(now.exchanges - before.exchanges) / seconds;
  share.bytes = static_cast<double>(now.bytes_sent - before.bytes_sent) / seconds;
  const auto waits = std::min(1.0, static_cast<double>(now.waited_us - before.waited_us)
                                       / 1e6 / seconds);
  // The mean weighs the last few seconds: one second differs from the next by chance.
  constexpr double newest = 0.4;
  share.waits =
      before.exchanges == 0 ? waits : share.waits + newest * (waits - share.waits);
}

} // namespace clade
