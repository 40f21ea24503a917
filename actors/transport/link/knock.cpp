#include "actors/transport/link/knock.hpp"

#include "actors/transport/link/door.hpp"
#include "actors/transport/link/network_config.hpp"
#include "actors/transport/tls/tls_guard.hpp"
#include "actors/transport/tls/tls_probe.hpp"

namespace clade {

expected<void> knock(const endpoint& where, const key_files& keys,
                     const std::string& build) {
  constexpr std::chrono::seconds answer_time{5};
  if (auto there = probe_tls(where.host, where.port, keys, answer_time); !there)
    return there;
  network_config config(keys, 1);
  caf::actor_system system(config);
  const auto opened = find_dispatcher(system, where, build, answer_time);
  // CAF would wait until the peer has closed its side too.
  shut_connections(where.port);
  return opened.map([](const auto&) {});
}

} // namespace clade
