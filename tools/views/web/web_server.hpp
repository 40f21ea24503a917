#pragma once

#include "engine/telemetry/picture/feed.hpp"
#include "tools/views/web/web_hooks.hpp"

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

namespace clade {

struct web_params {
  std::uint16_t port = 0; ///< The port on 127.0.0.1; 0: any that is free.
  /// Called once, when it can be opened, with its address.
  std::function<void(const std::string&)> ready = {};
  std::stop_token stop = {}; ///< Ends it, from any thread.
  web_hooks hooks = {};
};

/// Shows a run as a page, until it is stopped or the feed fails. Only this thread uses
/// the feed. On loopback only, and for whoever has the address
/// (tools/views/web/web_access.hpp):
///
///   /                                 the page (tools/dashboard), and its files
///   /api/picture                      the picture, as engine/telemetry/feeds/json.hpp
///   /api/candidates?after=ID&count=N  rows of at most 10,000 candidates, from the same
///   /api/candidate/ID                 one, as engine/report/text/json.hpp
///   /api/curves?ids=ID,ID             metrics and epochs of at most 50 candidates
///   /api/candidate/ID/costs           shapes and parameters of its network, by node
///   /api/model/ID?format=onnx         its trained network as a file
///   /api/runs, /api/run/FOLDER        the runs beside this one, as `list --json` and
///                                     `show --json` have them
///   /api/session                      who looks, and what they may do
///   /api/verdict                      what a person should know before using the
///                                     champion
///   POST /api/control                 tells the run an order
///                                     (tools/views/web/web_work.hpp)
///   /api/events                       server-sent events, each a line of
///                                     `attach --json`: the picture, the slots and the
///                                     epochs of what is in training, then news as they
///                                     come; the picture again when it was taken anew, or
///                                     when another kind of thing is shown
///
/// A reader of events that is too slow is cut, and begins with the picture when it comes
/// back. `conflict`: the port is in use.
[[nodiscard]] expected<void> serve_web(feed& f, const web_params& p);

} // namespace clade
