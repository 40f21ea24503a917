#pragma once

#include "actors/messages/protocol.hpp"

#include <memory>

namespace clade::test {

/// The messages that a link sends to its node, for tests that have a link but no node. A test
/// overrides what it looks at; the rest is passed over.
class stub_node_events {
public:
  virtual ~stub_node_events() = default;
  [[nodiscard]] virtual node_hello hello() {
    return {.slot = "cpu:0", .worker = 1, .session = 1};
  }
  virtual void welcomed(const node_welcome& /*welcome*/, const link_actor& /*link*/) {}
  virtual void assigned(const assignments& /*work*/) {}
  virtual void formed(const team_formed& /*team*/) {}
  virtual void dismissed(const leave& /*message*/) {}
  virtual void forget(const taken& /*what*/) {}
  virtual void allowed_to_leave() {}
};

inline node_actor::behavior_type stub_node(node_actor::pointer,
                                           std::shared_ptr<stub_node_events> node) {
  return {
      [node](link_up) { return node->hello(); },
      [node](const node_welcome& w, const link_actor& link) { node->welcomed(w, link); },
      [node](const assignments& a) { node->assigned(a); },
      [node](const team_formed& t) { node->formed(t); },
      [node](const leave& l) { node->dismissed(l); },
      [node](const taken& t) { node->forget(t); },
      [node](may_leave) { node->allowed_to_leave(); },
      [](const node_ready&) {},
      [](const results&) {},
      [](const epoch_passed&) {},
      [](const fetch_chunk&) {
        return chunk{"none", {}};
      },
      [](drain) {},
      [](drain_over) {},
      [](tick) {},
  };
}

} // namespace clade::test
