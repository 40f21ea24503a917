#pragma once

#include "actors/transport/tls/keys.hpp"

#include <caf/actor_system_config.hpp>

#include <cstddef>

namespace clade {

/// An actor system that talks TLS with these keys, and to nobody without. Work is shared
/// through one queue whose threads sleep until there is some: CAF's default, work
/// stealing, polls, which takes time from training and wakes up to 10 ms late.
class network_config : public caf::actor_system_config {
public:
  network_config(const key_files& keys, std::size_t threads);
};

} // namespace clade
