#pragma once

#include "tools/queue/client/queue_tokens.hpp"
#include "tools/queue/head/queue_head.hpp"

#include <httplib.h>

#include <functional>
#include <optional>

namespace clade {

/// Answers who asks, or answers that nobody does and returns nothing.
using queue_door =
    std::function<std::optional<queue_user>(const httplib::Request&, httplib::Response&)>;

/// Whether the user is a machine, or an admin; else it is answered (403).
[[nodiscard]] bool may_report(const queue_user& u, httplib::Response& res);

/// Adds what the machines of a queue ask its server (queue_server.hpp).
void add_node_routes(httplib::Server& server, queue_head& head, queue_door door);

} // namespace clade
