#pragma once

#include "engine/telemetry/picture/feed.hpp"

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

namespace clade {

struct metrics_params {
  std::uint16_t port = 0; ///< The port on 127.0.0.1; 0: any that is free.
  /// Called once, when it can be scraped, with its address.
  std::function<void(const std::string&)> ready = {};
  std::stop_token stop = {}; ///< Ends it, from any thread.
};

/// Answers GET /metrics with `metrics_text`, at most a quarter of a second old, until it
/// is stopped or the feed fails. Only this thread uses the feed. On loopback only,
/// without a token, which scrapers do not have: there is nothing but numbers, and nothing
/// to change. `conflict`: the port is in use.
[[nodiscard]] expected<void> serve_metrics(feed& from, const metrics_params& p);

} // namespace clade
