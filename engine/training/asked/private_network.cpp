#include "engine/training/asked/private_network.hpp"

#include "genome/base/text.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>

namespace clade {

namespace {

constexpr int address_bits = 32;
// Fewer bits are no private network's.
constexpr int fewest_bits = 8;

struct free_addresses {
  void operator()(ifaddrs* all) const { ::freeifaddrs(all); }
};

std::string to_text(std::uint32_t address) {
  const in_addr raw{.s_addr = htonl(address)};
  std::array<char, INET_ADDRSTRLEN> text{};
  return ::inet_ntop(AF_INET, &raw, text.data(), text.size());
}

std::optional<int> bits_in(std::string_view text) {
  const auto bits = parse_number<int>(text);
  if (!bits || *bits < fewest_bits || *bits > address_bits)
    return std::nullopt;
  return bits;
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "this machine";
}

/// The IPv4 address of an interface, if it is up and has one.
std::optional<std::uint32_t> address_of(const ifaddrs& interface) {
  if (interface.ifa_addr == nullptr || interface.ifa_addr->sa_family != AF_INET)
    return std::nullopt;
  sockaddr_in address{};
  std::memcpy(&address, interface.ifa_addr, sizeof(address));
  return ntohl(address.sin_addr.s_addr);
}

} // namespace

expected<ipv4_network> parse_ipv4_network(const std::string& text) {
  const auto slash = text.find('/');
  in_addr raw{};
  const auto bits = slash == std::string::npos
                        ? std::nullopt
                        : bits_in(std::string_view(text).substr(slash + 1));
  if (!bits || ::inet_pton(AF_INET, text.substr(0, slash).c_str(), &raw) != 1)
    return fail(error_kind::invalid_input,
                fmt::format("\"{}\" is no IPv4 network; an address and from 8 to 32 bits "
                            "make one, such as \"10.1.0.0/16\"",
                            text));
  const auto mask = ~std::uint32_t{0} << (address_bits - *bits);
  const auto address = ntohl(raw.s_addr);
  if ((address & mask) != address)
    return fail(error_kind::invalid_input,
                fmt::format("\"{}\" is an address in a network; that is \"{}/{}\"", text,
                            to_text(address & mask), *bits));
  return ipv4_network{.address = address, .mask = mask};
}

expected<std::string> own_address_in(const std::string& network) {
  const auto wanted = parse_ipv4_network(network);
  if (!wanted)
    return tl::unexpected(wanted.error());
  ifaddrs* found = nullptr;
  if (::getifaddrs(&found) != 0)
    return fail(error_kind::io, std::string("getifaddrs: ") + std::strerror(errno));
  const std::unique_ptr<ifaddrs, free_addresses> all(found);
  std::string others;
  for (const auto* i = found; i != nullptr; i = i->ifa_next)
    if (const auto address = address_of(*i)) {
      if (wanted->has(*address))
        return to_text(*address);
      others += (others.empty() ? "" : ", ") + to_text(*address);
    }
  return fail(error_kind::invalid_input,
              fmt::format("{} has no address in the network {}, but {}", host_name(),
                          network, others.empty() ? "none at all" : others));
}

} // namespace clade
