#pragma once

#include "actors/transport/link/endpoint.hpp"
#include "actors/transport/tls/keys.hpp"

namespace clade {

/// Connects to a head as a worker would, asks whether it takes a program of this build,
/// and leaves. Errors as of `probe_tls`, or the head's refusal. Blocks for some seconds
/// at most.
[[nodiscard]] expected<void> knock(const endpoint& where, const key_files& keys,
                                   const std::string& build);

} // namespace clade
