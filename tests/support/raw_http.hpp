#pragma once

#include "genome/base/unique_fd.hpp"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace clade::test {

/// A connection to a port of 127.0.0.1.
class raw_connection {
public:
  explicit raw_connection(std::uint16_t port)
      : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (!socket_
        || ::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to)
               != 0)
      throw std::runtime_error("cannot connect");
  }

  /// Sends as much of it as the other side takes before it ends the connection.
  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0)
        return;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  /// Tells the other side that no more comes.
  void end_sending() { ::shutdown(socket_.get(), SHUT_WR); }

  /// Returns all that comes until the other side ends the connection.
  std::string read_all() {
    std::string all;
    std::array<char, 1 << 16> piece;
    for (;;) {
      const auto got = ::recv(socket_.get(), piece.data(), piece.size(), 0);
      if (got <= 0)
        return all;
      all.append(piece.data(), static_cast<std::size_t>(got));
    }
  }

private:
  unique_fd socket_;
};

inline std::string exchange_raw(std::uint16_t port, std::string_view bytes) {
  raw_connection c(port);
  c.send(bytes);
  return c.read_all();
}

/// An answer's status and what follows its headers.
struct raw_answer {
  int status = 0;
  std::string headers{}, body{};

  explicit raw_answer(const std::string& text) {
    const auto end = text.find("\r\n\r\n");
    if (text.size() < 12 || end == std::string::npos)
      return;
    status = std::stoi(text.substr(9, 3));
    headers = text.substr(0, end + 2);
    body = text.substr(end + 4);
  }
};

/// Values of a Range header: within, at the end, beyond it, none, and several.
inline std::vector<std::string> all_kinds_of_ranges() {
  return {"bytes=0-0",
          "bytes=5-",
          "bytes=-5",
          "bytes=-0",
          "bytes=-",
          "bytes=100-300000",
          "bytes=300000-",
          "bytes=1000000-1000400",
          "bytes=-300000",
          "bytes=0-9223372036854775807",
          "bytes=9223372036854775807-9223372036854775807",
          "bytes=9223372036854775807-",
          "bytes=-9223372036854775807",
          "bytes=0-99999999999999999999",
          "bytes=0-5,100-300000",
          "bytes=100-300000, 5-6",
          "bytes=100-300000,7-3",
          "bytes=-,-,-300000",
          "lines=100-300000",
          "bytes 100-300000",
          ""};
}

} // namespace clade::test
