#include "actors/transport/team/team_door.hpp"

#include "actors/transport/team/team_forming.hpp"
#include "actors/transport/tls/c_deleter.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace clade {
namespace {

// Members and strangers that come while this process forms no team.
constexpr int most_waiting = 128;

expected<unique_fd> listen_on(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICHOST;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), "0", &hints, &found) != 0)
    return fail(error_kind::invalid_input,
                fmt::format("\"{}\" is no numeric address", host));
  const std::unique_ptr<addrinfo, c_deleter<::freeaddrinfo>> address(found);
  unique_fd s(::socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!s || ::bind(s.get(), found->ai_addr, found->ai_addrlen) != 0
      || ::listen(s.get(), most_waiting) != 0)
    return fail(error_kind::io, fmt::format("cannot listen on {} for other members: {}",
                                            host, std::strerror(errno)));
  return s;
}

std::uint16_t port_of(int socket) {
  sockaddr_in6 address{}; // An IPv4 address has its port at the same place.
  socklen_t size = sizeof(address);
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin6_port);
}

} // namespace

team_door::team_door(key_files keys, unique_fd listener, std::uint16_t port)
    : keys_(std::move(keys)),
      listener_(std::move(listener)),
      port_(port) {}

expected<std::unique_ptr<team_door>> team_door::open(const key_files& keys,
                                                     const std::string& host) {
  if (auto usable = tls_stream::check(keys); !usable)
    return tl::unexpected(std::move(usable).error());
  return listen_on(host).map([&](unique_fd&& listener) {
    const auto port = port_of(listener.get());
    return std::unique_ptr<team_door>(new team_door(keys, std::move(listener), port));
  });
}

std::unique_ptr<team_links> team_door::link(const team_formation& formation,
                                            int interrupt,
                                            std::chrono::milliseconds most) {
  return team_forming({.formation = formation,
                       .keys = keys_,
                       .listener = listener_.get(),
                       .interrupt = interrupt,
                       .until = std::chrono::steady_clock::now() + most})
      .run();
}

} // namespace clade
