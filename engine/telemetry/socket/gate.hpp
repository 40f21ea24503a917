#pragma once

#include <zmq.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace clade {

struct gate_params {
  /// The authority whose viewers are let in (viewer_keys.hpp).
  std::filesystem::path authority;
  /// Hears who was refused, a line a second at most.
  std::function<void(const std::string&)> say;
};

/// Decides for all sockets of a context who is let in from the network: libzmq asks it at
/// each handshake (ZeroMQ's RFC 27). A socket's ZAP domain is "watch" or "control". Used
/// by the thread that polls its socket.
class gate {
public:
  /// Throws `zmq::error_t`, as zmq.hpp does.
  gate(zmq::context_t& context, gate_params params);

  /// Readable when somebody waits.
  [[nodiscard]] void* handle() { return socket_.handle(); }
  void answer_waiting();

private:
  struct access_request {
    std::string domain, address, key;
  };
  struct decision {
    bool open = false;
    std::string name; ///< The viewer's, which its messages carry as "User-Id".
  };

  decision decide(const access_request& k);
  void note(const std::string& refusal);

  gate_params params_;
  zmq::socket_t socket_;
  std::chrono::steady_clock::time_point next_note_{};
  std::uint64_t unnoted_ = 0;
};

} // namespace clade
