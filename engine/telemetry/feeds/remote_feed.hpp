#pragma once

#include "engine/telemetry/picture/feed.hpp"
#include "engine/telemetry/socket/subscription.hpp"

#include <memory>

namespace clade {

/// A run of another machine as its head publishes it: only while it has one. `showing` is
/// "live"; "not connected" while nothing is heard, until it is heard again; and once the
/// run is over "finished" or, when its head went as well, "stopped". Blocks until the
/// first picture is there; errors as of `subscription::ask`.
[[nodiscard]] expected<std::unique_ptr<feed>> open_remote_feed(const remote_head& head);

} // namespace clade
