#pragma once

#include "engine/telemetry/picture/feed.hpp"

namespace clade {

/// Shows a run on this process's terminal until the person quits; returns the exit
/// status: 0, or 128 and the signal's number after SIGINT, SIGTERM or SIGHUP. An error is
/// `invalid_input` if there is no terminal that can do it, else the feed's. The terminal
/// is given back as it was in all of these. Takes over those signals and SIGWINCH while
/// it lasts. A change is on the screen within 50 ms; without anything new nothing is
/// drawn.
[[nodiscard]] expected<int> show_in_terminal(feed& from);

} // namespace clade
