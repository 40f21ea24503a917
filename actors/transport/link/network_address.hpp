#pragma once

#include "actors/transport/link/endpoint.hpp"
#include "genome/base/error.hpp"

#include <string>

namespace clade {

/// This machine's name; empty if it has none.
[[nodiscard]] std::string own_name();

/// "0.0.0.0:7411" with a port in the place of port 0: one that is free now, and of those
/// that the system gives to nobody by itself, so that it is probably free again when the
/// run is resumed.
[[nodiscard]] expected<std::string> with_free_port(const std::string& listen);

/// "127.0.0.1" for "localhost": the first IPv4 address that it means.
[[nodiscard]] expected<std::string> in_numbers(const std::string& host);

/// The IPv4 address of this machine that packets to that place leave from; empty where they
/// do not leave the machine, or there is no way.
[[nodiscard]] std::string address_towards(const endpoint& there);

/// "0.0.0.0:7411" as other machines reach it: `host` in the place of the address, or if
/// that is empty and the address means every one of this machine, the machine's name.
[[nodiscard]] expected<std::string> reachable_address(const std::string& listening,
                                                      const std::string& host);

} // namespace clade
