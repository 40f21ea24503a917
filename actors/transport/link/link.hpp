#pragma once

#include "actors/messages/protocol.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <vector>

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
  std::uint64_t node_number = 0; ///< Set once the head welcomed it.
  /// The interval of heartbeats; the welcome sets it.
  std::chrono::milliseconds interval{1'000};
  caf::actor_clock::time_point answered; ///< When the head was last heard.
  bool draining = false;                 ///< The node wants nothing more.
  /// The number of leases that the node handed back and the head has not heard of.
  std::size_t unheard = 0;

  /// An assignment that the node gets when its weights and checkpoint are here.
  struct coming {
    assignment what;
    /// The bytes that have come of the first blob that is absent.
    bytes got;
    std::uint64_t asked = 0; ///< The offset up to which pieces were asked for.
  };
  /// A result that the head gets after its weights and checkpoint.
  struct going {
    result what;
    /// The parts that are to be sent; the first one is under way.
    std::vector<blob_part> rest;
    /// The offset of the next piece; if there is none, the head gives it.
    std::optional<std::uint64_t> offset;
    std::size_t unanswered = 0;
    bool refused = false;
  };
  /// By lease. Both end with the connection: what did not come is handed out again, and
  /// what did not go is sent by the next link, from where the head has it.
  std::map<std::uint64_t, coming> arriving;
  std::map<std::uint64_t, going> departing;

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

  void take(const assignments& message);
  void carry(const results& message);
  void hand_back(leaving message);
  void forget(const taken& message);
  void beat();
  void end(const std::string& reason);

private:
  void deliver(results message);
  void fetch(std::uint64_t lease);
  void arrive(std::uint64_t lease, std::uint64_t offset, const chunk& piece);
  void give_up(std::uint64_t lease, const std::string& why);
  void send_pieces(std::uint64_t lease);
  void send(std::uint64_t lease, piece part);
  void sent(std::uint64_t lease, const piece_taken& answer);
};

link_actor::behavior_type link_behavior(link_actor::stateful_pointer<link_state> self,
                                        link_params params);

} // namespace clade
