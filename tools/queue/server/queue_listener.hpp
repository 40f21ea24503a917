#pragma once

#include "tools/http/http_server.hpp"
#include "tools/queue/client/queue_addresses.hpp"

#include <memory>

namespace clade {

/// A server of HTTP, or HTTPS, that has its port and no routes yet.
struct queue_listener {
  std::unique_ptr<http_server> server;
  queue_server_params params; ///< With the port that it has.
};

/// `conflict`: the port is in use; `invalid_input`: the address is not of this machine's
/// loopback and there is no TLS, or its files are none.
[[nodiscard]] expected<queue_listener> listen_for(const queue_server_params& params);

} // namespace clade
