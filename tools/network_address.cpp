#include "tools/network_address.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <climits>
#include <cstdint>
#include <random>

namespace clade {

namespace {

// Linux gives outgoing connections ports from 32768 on.
constexpr std::uint16_t first_port = 20'000;
constexpr std::uint16_t last_port = 31'999;
constexpr int most_ports_tried = 200;

struct address {
  std::string host;
  std::uint16_t port = 0;
};

expected<address> parse_address(const std::string& text) {
  const auto colon = text.rfind(':');
  address result;
  if (colon != std::string::npos && colon > 0) {
    result.host = text.substr(0, colon);
    const auto* end = text.data() + text.size();
    const auto [stop, wrong] = std::from_chars(text.data() + colon + 1, end, result.port);
    if (wrong == std::errc() && stop == end)
      return result;
  }
  return fail(error_kind::invalid_input,
              "\"" + text + "\" is no address; write it as in 0.0.0.0:7411");
}

bool is_free(std::uint16_t port) {
  const int s = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (s < 0)
    return false;
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(port);
  place.sin_addr.s_addr = htonl(INADDR_ANY);
  const bool free =
      ::bind(s, reinterpret_cast<const sockaddr*>(&place), sizeof(place)) == 0;
  ::close(s);
  return free;
}

std::string own_name() {
  char name[HOST_NAME_MAX + 1] = {};
  ::gethostname(name, sizeof(name) - 1);
  return name;
}

} // namespace

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
    if (is_free(port))
      return wanted->host + ":" + std::to_string(port);
  }
  return fail(error_kind::io, "found no free port from 20000 to 31999; name one that is");
}

expected<std::string> reachable_address(const std::string& listening,
                                        const std::string& host) {
  return parse_address(listening).map([&](const address& a) {
    const bool everywhere = a.host == "0.0.0.0" || a.host == "[::]" || a.host == "*";
    const auto name = !host.empty() ? host : everywhere ? own_name() : a.host;
    return name + ":" + std::to_string(a.port);
  });
}

} // namespace clade
