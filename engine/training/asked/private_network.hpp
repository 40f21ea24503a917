#pragma once

#include "genome/base/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace clade {

/// The IPv4 addresses whose first bits are the same.
struct ipv4_network {
  std::uint32_t address = 0, mask = 0; ///< The numbers are in the host's byte order.

  [[nodiscard]] bool has(std::uint32_t one) const { return (one & mask) == address; }
};

/// Reads "10.1.0.0/16", of at least eight bits. The error begins with the text.
[[nodiscard]] expected<ipv4_network> parse_ipv4_network(const std::string& text);

/// Returns an address of this machine in that network, as text; of several the one that
/// the system names first. If there is none the error names the machine.
[[nodiscard]] expected<std::string> own_address_in(const std::string& network);

} // namespace clade
