#include "actors/transport/link/link.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace clade {

void link_state::greet() {
  self->request(params.node, caf::infinite, link_up{}).then([this](node_hello& hello) {
    self->request(params.dispatcher, caf::infinite, std::move(hello), link_actor{self})
        .then(
            [this](const node_welcome& welcome) {
              node_number = welcome.node;
              interval = std::chrono::milliseconds(welcome.heartbeat_ms);
              self->send(params.node, welcome, link_actor{self});
            },
            [this](caf::error& e) { end("no welcome: " + self->system().render(e)); });
  });
}

void link_state::deliver(results message) {
  self->request(params.dispatcher, caf::infinite, std::move(message))
      .then([this](const taken& t) { self->send(params.node, t); },
            [this](caf::error& e) {
              end("results were not taken: " + self->system().render(e));
            });
}

void link_state::hand_back(leaving message) {
  draining = true;
  for (const auto& [lease, c] : std::exchange(arriving, {}))
    message.not_done.push_back(c.what.id);
  ++unheard;
  self->request(params.dispatcher, caf::infinite, std::move(message))
      .then([this](may_leave heard) {
        if (--unheard == 0)
          self->send(params.node, heard);
      });
}

void link_state::forget(const taken& message) {
  std::erase_if(arriving, [&](const auto& one) {
    return std::ranges::find(message.ids, one.second.what.id) != message.ids.end();
  });
  self->send(params.node, message);
}

void link_state::beat() {
  if (self->clock().now() - answered > params.silence)
    return end(fmt::format(
        "the head was silent for {} s",
        std::chrono::duration_cast<std::chrono::seconds>(params.silence).count()));
  self->delayed_send(self, interval, tick{});
  if (node_number == 0) // Its welcome waits for the head to be ready.
    return;
  self->request(params.dispatcher, caf::infinite, heartbeat{node_number})
      .then(
          [this](const heartbeat_answer& answer) {
            answered = self->clock().now();
            if (!answer.known)
              end("the head had given this node up");
          },
          [this](caf::error& e) { end("no answer: " + self->system().render(e)); });
}

void link_state::end(const std::string& reason) {
  caf::anon_send(params.watcher, reason);
  self->quit();
}

link_actor::behavior_type link_behavior(link_actor::stateful_pointer<link_state> self,
                                        link_params params) {
  auto& s = self->state;
  s.self = self;
  s.params = std::move(params);
  s.answered = self->clock().now();
  self->monitor(s.params.dispatcher);
  self->set_down_handler([self](caf::down_msg& down) {
    self->state.end("the connection ended: " + self->system().render(down.reason));
  });
  self->delayed_send(self, s.interval, tick{});
  s.greet();
  return {
      [self](const assignments& message) { self->state.take(message); },
      [self](const team_formed& message) {
        self->send(self->state.params.node, message);
      },
      [self](const leave& message) { self->send(self->state.params.node, message); },
      [self](const node_ready& message) {
        self->send(self->state.params.dispatcher, message);
      },
      [self](const results& message) { self->state.carry(message); },
      [self](const epoch_passed& message) {
        self->send(self->state.params.dispatcher, message);
      },
      [self](const team_passed& message) {
        self->send(self->state.params.dispatcher, message);
      },
      [self](const leaving& message) { self->state.hand_back(message); },
      [self](const fetch_chunk& request) {
        return self->state.pass<chunk>(self->state.params.dispatcher, request);
      },
      [self](const taken& message) { self->state.forget(message); },
      [self](tick) { self->state.beat(); },
  };
}

} // namespace clade
