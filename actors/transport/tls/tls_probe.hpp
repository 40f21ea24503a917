#pragma once

#include "actors/transport/tls/keys.hpp"

#include <chrono>
#include <cstdint>
#include <string>

namespace clade {

/// Connects, shakes hands and waits for the first byte: whether a head there takes these
/// keys, with a reason that a person can act on, which CAF does not give. `refused`: it
/// cannot be reached, try again; `conflict`: one side does not accept the other's
/// certificate. Blocks, no longer than `most`.
[[nodiscard]] expected<void> probe_tls(const std::string& host, std::uint16_t port,
                                       const key_files& keys,
                                       std::chrono::milliseconds most);

} // namespace clade
