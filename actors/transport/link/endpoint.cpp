#include "actors/transport/link/endpoint.hpp"

#include "genome/base/unique_fd.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <sstream>

namespace clade {

expected<endpoint> parse_endpoint(const std::string& text) {
  const auto colon = text.rfind(':');
  unsigned port = 0;
  const char* end = text.data() + text.size();
  if (colon != std::string::npos && colon > 0) {
    auto [rest, failure] = std::from_chars(text.data() + colon + 1, end, port);
    if (failure == std::errc{} && rest == end && port <= 65'535)
      return endpoint{.host = text.substr(0, colon),
                      .port = static_cast<std::uint16_t>(port)};
  }
  return fail(error_kind::invalid_input,
              fmt::format("\"{}\" is no address: write HOST:PORT", text));
}

expected<std::vector<endpoint>> parse_endpoints(const std::string& text) {
  std::vector<endpoint> all;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    auto one = parse_endpoint(part);
    if (!one)
      return tl::unexpected(std::move(one).error());
    all.push_back(std::move(*one));
  }
  if (all.empty())
    return tl::unexpected(parse_endpoint(text).error());
  return all;
}

std::string to_text(const endpoint& e) {
  return fmt::format("{}:{}", e.host, e.port);
}

expected<void> check_listening(const endpoint& e) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  bool free = false;
  if (::getaddrinfo(e.host.c_str(), std::to_string(e.port).c_str(), &hints, &found)
      == 0) {
    const int yes = 1;
    const unique_fd s(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    free = s && ::setsockopt(s.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) == 0
           && ::bind(s.get(), found->ai_addr, found->ai_addrlen) == 0
           && ::listen(s.get(), 1) == 0;
    ::freeaddrinfo(found);
  }
  if (free)
    return {};
  return fail(error_kind::conflict,
              fmt::format("cannot listen on {}: is the port in use, and the address one "
                          "of this machine's?",
                          to_text(e)));
}

} // namespace clade
