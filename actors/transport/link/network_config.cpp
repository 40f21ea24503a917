#include "actors/transport/link/network_config.hpp"

#include "actors/messages/protocol.hpp"
#include "actors/transport/tls/stranger_guard.hpp"
#include "actors/transport/tls/tls_guard.hpp"

#include <caf/io/all.hpp>
#include <caf/openssl/all.hpp>

#include <cstdlib>

namespace clade {

network_config::network_config(const key_files& keys, std::size_t threads) {
  const auto caf = reinterpret_cast<const void*>(&caf::openssl::manager::make);
  if (!tls_is_guarded() || !accepting_is_guarded() || !follow_frames_read_by(caf))
    std::abort();
  load<caf::io::middleman>();
  load<caf::openssl::manager>();
  clade::add_message_types(*this);
  openssl_cafile = keys.authority.string();
  openssl_certificate = keys.certificate.string();
  openssl_key = keys.key.string();
  set("scheduler.policy", caf::atom("sharing"));
  set("scheduler.max-threads", threads);
}

} // namespace clade
