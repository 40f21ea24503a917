#include "actors/transport/link/door.hpp"

#include <caf/io/all.hpp>
#include <caf/openssl/all.hpp>
#include <fmt/format.h>

namespace clade {

caf::behavior door_behavior(caf::event_based_actor*, dispatcher_actor dispatcher,
                            std::string build) {
  return {[dispatcher, build](std::uint32_t protocol, const std::string& nodes_build)
              -> caf::result<std::string, caf::strong_actor_ptr> {
    if (protocol == protocol_version && nodes_build == build)
      return {std::string(), caf::actor_cast<caf::strong_actor_ptr>(dispatcher)};
    return {fmt::format("this worker is clade {}, protocol {}; the run is clade {}, "
                        "protocol {}: start a worker of the run's version",
                        nodes_build, protocol, build, protocol_version),
            caf::strong_actor_ptr()};
  }};
}

expected<dispatcher_actor> open_door(caf::scoped_actor& self, const caf::actor& door,
                                     const std::string& build,
                                     std::chrono::milliseconds most) {
  expected<dispatcher_actor> answer = fail(error_kind::refused, "no answer");
  self->request(door, most, protocol_version, build)
      .receive(
          [&](const std::string& refusal, const caf::strong_actor_ptr& dispatcher) {
            if (refusal.empty() && dispatcher)
              answer = caf::actor_cast<dispatcher_actor>(dispatcher);
            else
              answer = fail(error_kind::conflict, refusal);
          },
          [&](caf::error& e) {
            answer = fail(error_kind::refused,
                          "no answer from the run: " + self->system().render(e));
          });
  return answer;
}

expected<dispatcher_actor> find_dispatcher(caf::actor_system& system,
                                           const endpoint& where,
                                           const std::string& build,
                                           std::chrono::milliseconds most) {
  const auto door =
      caf::openssl::remote_actor<caf::actor>(system, where.host, where.port);
  if (!door)
    return fail(error_kind::refused, system.render(door.error()));
  caf::scoped_actor self(system);
  return open_door(self, *door, build, most);
}

} // namespace clade
