#pragma once

#include "actors/messages/protocol.hpp"
#include "actors/transport/link/endpoint.hpp"

#include <chrono>
#include <string>

namespace clade {

/// The actor that a head publishes: the one that any version of a node can talk to,
/// because its messages are of built-in types and never change. A number
/// (`protocol_version`) and a string (the build) are answered by a refusal, empty if
/// there is none, and the dispatcher.
caf::behavior door_behavior(caf::event_based_actor* self, dispatcher_actor dispatcher,
                            std::string build);

/// Knocks: the dispatcher behind a door, or the refusal. Blocks, no longer than `most`:
/// CAF answers nothing when the head dies meanwhile.
[[nodiscard]] expected<dispatcher_actor> open_door(caf::scoped_actor& self,
                                                   const caf::actor& door,
                                                   const std::string& build,
                                                   std::chrono::milliseconds most);

/// Connects and knocks. Blocks as connecting does, and then no longer than `most`.
[[nodiscard]] expected<dispatcher_actor> find_dispatcher(caf::actor_system& system,
                                                         const endpoint& where,
                                                         const std::string& build,
                                                         std::chrono::milliseconds most);

} // namespace clade
