#include "actors/transport/link/network_address.hpp"

#include "genome/base/unique_fd.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdint>
#include <random>

namespace clade {

namespace {

// Linux gives outgoing connections ports from 32768 on.
constexpr std::uint16_t first_port = 20'000;
constexpr std::uint16_t last_port = 31'999;
constexpr int most_ports_tried = 200;

expected<endpoint> parse_address(const std::string& text) {
  return parse_endpoint(text).map_error([&](const error& e) {
    return error{e.kind,
                 fmt::format("\"{}\" is no address; write it as in 0.0.0.0:7411", text)};
  });
}

} // namespace

std::string own_name() {
  char name[HOST_NAME_MAX + 1] = {};
  ::gethostname(name, sizeof(name) - 1);
  return name;
}

expected<std::string> with_free_port(const std::string& listen) {
  auto wanted = parse_address(listen);
  if (!wanted)
    return tl::unexpected(wanted.error());
  if (wanted->port != 0)
    return listen;
  std::random_device random;
  std::uniform_int_distribution<int> ports(first_port, last_port);
  for (int i = 0; i < most_ports_tried; ++i) {
    const auto port = static_cast<std::uint16_t>(ports(random));
    if (check_listening({.host = "0.0.0.0", .port = port}))
      return to_text(endpoint{.host = wanted->host, .port = port});
  }
  return fail(error_kind::io, "found no free port from 20000 to 31999; name one that is");
}

expected<std::string> in_numbers(const std::string& host) {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  std::array<char, INET_ADDRSTRLEN> text{};
  if (::getaddrinfo(host.c_str(), nullptr, &hints, &found) == 0) {
    const auto& address = reinterpret_cast<const sockaddr_in*>(found->ai_addr)->sin_addr;
    ::inet_ntop(AF_INET, &address, text.data(), text.size());
    ::freeaddrinfo(found);
  }
  if (text.front() == 0)
    return fail(error_kind::invalid_input,
                fmt::format("\"{}\" is no IPv4 address and no name of one", host));
  return text.data();
}

// Connecting a datagram socket sends nothing; it chooses the route.
std::string address_towards(const endpoint& there) {
  const auto number = in_numbers(there.host);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(there.port);
  socklen_t size = sizeof(address);
  std::array<char, INET_ADDRSTRLEN> text{};
  const unique_fd s(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!number || !s || ::inet_pton(AF_INET, number->c_str(), &address.sin_addr) != 1
      || ::connect(s.get(), reinterpret_cast<sockaddr*>(&address), size) != 0
      || ::getsockname(s.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
    return {};
  ::inet_ntop(AF_INET, &address.sin_addr, text.data(), text.size());
  const std::string own = text.data();
  return own.starts_with("127.") ? std::string() : own;
}

expected<std::string> reachable_address(const std::string& listening,
                                        const std::string& host) {
  return parse_address(listening).map([&](const endpoint& a) {
    const bool everywhere = a.host == "0.0.0.0" || a.host == "[::]" || a.host == "*";
    const auto name = !host.empty() ? host : everywhere ? own_name() : a.host;
    return to_text(endpoint{.host = name, .port = a.port});
  });
}

} // namespace clade
