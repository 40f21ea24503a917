#include "actors/remote.hpp"

#include "actors/tls_errors.hpp"

#include <caf/io/all.hpp>
#include <caf/openssl/all.hpp>

#include <cstdlib>
#include <memory>
#include <tuple>

namespace clade {

namespace {

expected<node_end> live(caf::actor_system& system, const node_process_params& params,
                        const std::string& where) {
  auto dispatcher = caf::openssl::remote_actor<dispatcher_actor>(system, params.head.host,
                                                                 params.head.port);
  if (!dispatcher)
    return fail(error_kind::refused, "cannot join the run at " + where + ": "
                                         + system.render(dispatcher.error())
                                         + " (is it running, and are these its keys?)");
  caf::scoped_actor self(system);
  system.spawn(node_behavior,
               node_params{.dispatcher = *dispatcher,
                           .build = params.build,
                           .slot = params.slot,
                           .device = params.device},
               caf::actor_cast<caf::actor>(self));
  expected<node_end> result = node_end::connection;
  self->receive([&](int why, const std::string& words) {
    result = static_cast<node_end>(why);
    if (*result == node_end::refused)
      result = fail(error_kind::conflict, words);
    else if (*result == node_end::connection)
      result = fail(error_kind::refused, words);
  });
  return result;
}

} // namespace

network_config::network_config(const key_files& keys, std::size_t threads) {
  if (!tls_errors_are_separate())
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

expected<node_end> run_node(const node_process_params& params) {
  const auto where = params.head.host + ":" + std::to_string(params.head.port);
  auto config = std::make_unique<network_config>(params.keys, 1);
  auto system = std::make_unique<caf::actor_system>(*config);
  auto result = live(*system, params, where);
  // The destructor would wait for a trainer that may be stuck; the process ends anyway.
  std::ignore = system.release();
  std::ignore = config.release();
  return result;
}

} // namespace clade
