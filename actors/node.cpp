#include "actors/node.hpp"

#include <unistd.h>

#include <algorithm>

namespace clade {

namespace {

using namespace std::chrono_literals;

constexpr auto heartbeat_interval = 1s;
// An evaluation is asked to end when its time is up and does so at the end of a batch or
// epoch; one that has not by then never will.
constexpr std::chrono::milliseconds least_grace = 1s;
constexpr int grace_divisor = 10;

} // namespace

void node_state::introduce() {
  self->monitor(params.dispatcher);
  self->request(params.dispatcher, caf::infinite,
                node_hello{.protocol = protocol_version,
                           .build = params.build,
                           .slot = params.slot,
                           .process = static_cast<std::uint64_t>(::getpid())},
                node_actor{self})
      .then(
          [this](const node_welcome& welcome) {
            if (!welcome.refusal.empty())
              return end(node_end::refused,
                         "the run refused this node: " + welcome.refusal);
            id = welcome.node;
            self->send(trainer, welcome);
            self->delayed_send(self, heartbeat_interval, tick{});
          },
          [this](caf::error& e) {
            end(node_end::connection,
                "no answer from the run: " + self->system().render(e));
          });
}

void node_state::look_at_clock() {
  if (ending)
    return;
  self->send(params.dispatcher, heartbeat{id});
  self->delayed_send(self, heartbeat_interval, tick{});
  const auto limit = work->budget().time;
  const auto current = work->at_work();
  if (!current || limit.count() == 0)
    return;
  const auto elapsed = node_work::clock::now() - current->since;
  if (elapsed < limit + std::max(least_grace, limit / grace_divisor))
    return;
  evaluation e{.id = current->id, .outcome = outcome::timed_out};
  e.seconds = std::chrono::duration<double>(elapsed).count();
  e.reason = "did not end within limits.evaluation_time and was killed";
  results last{.node = id, .batch = {}};
  last.batch.push_back(result_of({std::move(e), {}}, current->lease));
  ending = true;
  // The process may end only when the dispatcher has the result.
  self->request(params.dispatcher, caf::infinite, std::move(last))
      .then([this] { end(node_end::stuck, "an evaluation did not end in its time"); },
            [this](caf::error& e) {
              end(node_end::connection, "the run is gone: " + self->system().render(e));
            });
}

void node_state::end(node_end why, std::string words) {
  ending = true;
  caf::anon_send(ended, static_cast<int>(why), std::move(words));
  self->quit();
}

node_actor::behavior_type node_behavior(node_actor::stateful_pointer<node_state> self,
                                        node_params params, caf::actor ended) {
  auto& s = self->state;
  s.self = self;
  s.params = std::move(params);
  s.ended = std::move(ended);
  s.trainer = self->spawn<caf::detached>(trainer_behavior,
                                         trainer_params{.work = s.work,
                                                        .dispatcher = s.params.dispatcher,
                                                        .device = s.params.device});
  s.evaluator = self->spawn<caf::detached>(evaluator_behavior, s.work);
  self->set_down_handler([self](caf::down_msg& down) {
    self->state.end(node_end::connection,
                    "the run is gone: " + self->system().render(down.reason));
  });
  s.introduce();
  return {
      [self](const assignments& message) { self->send(self->state.trainer, message); },
      [self](const examine& request) {
        return self->delegate(self->state.evaluator, request);
      },
      [self](const leave& message) {
        self->state.end(message.come_back ? node_end::connection : node_end::dismissed,
                        message.reason);
      },
      [self](tick) { self->state.look_at_clock(); },
  };
}

} // namespace clade
