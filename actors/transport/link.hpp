#pragma once

#include "actors/messages/protocol.hpp"

#include <chrono>

namespace clade {

struct link_params {
  dispatcher_actor dispatcher;
  node_actor node;
  caf::actor watcher; ///< Gets the reason, a string, when the connection is no more.
  /// The connection is given up when no heartbeat was answered for so long.
  std::chrono::milliseconds silence{5'000};
};

/// One connection of a node to a head: greets it with what the node has, carries messages
/// both ways, and exchanges heartbeats, because neither TCP nor CAF tells of a peer that
/// is silent.
struct link_state {
  link_actor::stateful_pointer<link_state> self = nullptr;
  link_params params;
  std::uint64_t node_number = 0;             ///< Set once the head welcomed it.
  std::chrono::milliseconds interval{1'000}; ///< Of heartbeats; the welcome says so.
  caf::actor_clock::time_point answered;

  void greet();

  /// Asks in its own name, and gives the answer to whoever asked it. Not `delegate`: an
  /// actor of one system must not appear as the sender in another.
  template<class Answer, class Handle, class Request>
  caf::typed_response_promise<Answer> pass(const Handle& to, const Request& request) {
    auto promise = self->make_response_promise<Answer>();
    self->request(to, caf::infinite, request)
        .then([promise](const Answer& a) mutable { promise.deliver(a); },
              [promise](caf::error& e) mutable { promise.deliver(std::move(e)); });
    return promise;
  }

  void carry(const results& message);
  void beat();
  void end(const std::string& reason);
};

link_actor::behavior_type link_behavior(link_actor::stateful_pointer<link_state> self,
                                        link_params params);

} // namespace clade
