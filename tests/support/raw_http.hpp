#pragma once

#include "genome/unique_fd.hpp"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace clade::test {

/// Sends these bytes to that port of 127.0.0.1 and returns all that comes until the other
/// side ends the connection. No exception for a side that ends it while it is sent to.
inline std::string exchange_raw(std::uint16_t port, std::string_view bytes) {
  const unique_fd s(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (!s || ::connect(s.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0)
    throw std::runtime_error("cannot connect");
  while (!bytes.empty()) {
    const auto sent = ::send(s.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0)
      break;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  std::string all;
  std::array<char, 1 << 16> piece;
  for (;;) {
    const auto got = ::recv(s.get(), piece.data(), piece.size(), 0);
    if (got <= 0)
      return all;
    all.append(piece.data(), static_cast<std::size_t>(got));
  }
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
