#pragma once

#include "actors/transport/tls/tls_guard.hpp"
#include "genome/base/unique_fd.hpp"

#include <arpa/inet.h>
#include <catch2/catch.hpp>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace clade::test {

/// Returns the port of this end of a connection or of a socket that listens.
inline std::uint16_t port_of(const unique_fd& socket) {
  sockaddr_in at{};
  socklen_t size = sizeof at;
  REQUIRE(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&at), &size) == 0);
  return ntohs(at.sin_port);
}

/// Blocks until the other side has ended this connection.
inline void await_end(const unique_fd& connection) {
  std::array<char, 4096> some{};
  while (::recv(connection.get(), some.data(), some.size(), 0) > 0) {
  }
}

/// Returns whether the other side has ended this connection by now.
inline bool has_ended(const unique_fd& connection) {
  pollfd end{.fd = connection.get(), .events = POLLRDHUP, .revents = 0};
  return ::poll(&end, 1, 0) == 1;
}

/// A socket that listens on a port of 127.0.0.1 and does not block.
class loopback_listener {
public:
  loopback_listener() {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&at), sizeof at) == 0);
    REQUIRE(::listen(socket_.get(), 64) == 0);
  }

  [[nodiscard]] int get() const { return socket_.get(); }
  [[nodiscard]] std::uint16_t port() const { return port_of(socket_); }

  /// Returns the connecting end of a connection that waits to be accepted.
  [[nodiscard]] unique_fd connect() const {
    unique_fd made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in at{};
    socklen_t size = sizeof at;
    auto* address = reinterpret_cast<sockaddr*>(&at);
    REQUIRE(::getsockname(socket_.get(), address, &size) == 0);
    REQUIRE(::connect(made.get(), address, size) == 0);
    return made;
  }

  /// Waits until somebody has connected. Returns what `accept` returns then: none, and
  /// `errno`, where the connection is refused.
  [[nodiscard]] unique_fd accept() const {
    pollfd waited{.fd = socket_.get(), .events = POLLIN, .revents = 0};
    REQUIRE(::poll(&waited, 1, -1) == 1);
    return unique_fd(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  }

private:
  unique_fd socket_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
};

/// Notes what is told of refused connections while it lives.
class noted_refusals {
public:
  noted_refusals() {
    report_refusals([this](const std::string& words) {
      const std::lock_guard lock(mutex_);
      said_.push_back(words);
    });
  }
  ~noted_refusals() { report_refusals({}); }

  [[nodiscard]] std::vector<std::string> said() const {
    const std::lock_guard lock(mutex_);
    return said_;
  }

private:
  mutable std::mutex mutex_;
  std::vector<std::string> said_;
};

} // namespace clade::test
