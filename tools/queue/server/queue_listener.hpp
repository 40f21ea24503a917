#pragma once

#include "tools/queue/queue_addresses.hpp"

#include <httplib.h>

#include <future>
#include <memory>

namespace clade {

/// A server of HTTP, or HTTPS, that has its port and no routes yet.
struct queue_listener {
  std::unique_ptr<httplib::Server> server;
  queue_server_params params; ///< With the port that it has.
};

/// `conflict`: the port is in use; `invalid_input`: the address is not of this machine's
/// loopback and there is no TLS, or its files are none.
[[nodiscard]] expected<queue_listener> listen_for(const queue_server_params& params);

/// Lets a server answer, in threads of its own, until this is destroyed.
class answering {
public:
  explicit answering(httplib::Server& server);
  answering(const answering&) = delete;
  answering& operator=(const answering&) = delete;
  ~answering();

private:
  httplib::Server& server_;
  std::future<void> done_;
};

} // namespace clade
