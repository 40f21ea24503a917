#include "actors/dispatcher.hpp"

#include "genome/codec.hpp"

#include <algorithm>
#include <bit>

// A node says hello, gets the experiment, prepares itself (data, LibTorch's first step)
// and says that it is ready; from then on it is given batches of candidates. It is lost
// when its connection closes (CAF tells at once), or when nothing was heard of it for the
// lease time (a hung process, which CAF never reports); what it had is handed out again
// or given up, as `schedule` decides. A node that was dropped for its silence is told to
// leave, in case it wakes.

namespace clade {

namespace {

using namespace std::chrono_literals;

constexpr auto tick_interval = 1s;
constexpr int examination_tries = 3;

} // namespace

node_welcome dispatcher_state::welcome(const node_hello& hello, const node_actor& node) {
  node_welcome answer;
  if (hello.protocol != protocol_version || hello.build != params.build) {
    answer.refusal = "this node is clade " + hello.build + ", protocol "
                     + std::to_string(hello.protocol) + "; the run is clade "
                     + params.build + ", protocol " + std::to_string(protocol_version)
                     + ": start a worker of the run's version";
    return answer;
  }
  if (leaving) {
    answer.refusal = "the run is over";
    return answer;
  }
  answer.node = ++last_node;
  answer.experiment = params.experiment;
  answer.module = params.module;
  nodes[answer.node] = {.handle = node, .view = {.name = hello.slot}};
  self->monitor(node);
  return answer;
}

void dispatcher_state::ready(const node_ready& message) {
  auto found = nodes.find(message.node);
  if (found == nodes.end())
    return;
  if (!message.failure.empty()) {
    self->send(selector, run_failure{{error_kind::invalid_input, message.failure}});
    return;
  }
  found->second.view.ready = true;
  schedule.join(message.node, self->clock().now());
  self->send(selector,
             observation{slot_changed{
                 .slot = found->second.view.name, .joined = true, .reason = {}}});
  serve();
}

void dispatcher_state::take(const submission& message) {
  keep_weights_above = message.keep_weights_above;
  for (const auto& c : message.candidates) {
    schedule.submit(c.id, c.work);
    open.emplace(c.id, c);
  }
  serve();
}

void dispatcher_state::take(const results& message) {
  auto node = nodes.find(message.node);
  if (node == nodes.end())
    return; // Its leases have ended.
  schedule.hear(message.node, self->clock().now());
  evaluations accepted;
  for (const auto& r : message.batch) {
    auto decoded = decode_record(r.evaluation);
    auto* evaluated = decoded ? std::get_if<candidate_evaluated>(&*decoded) : nullptr;
    if (evaluated == nullptr || evaluated->evaluated.id != r.id)
      continue; // Not of our making: the lease runs on, and ends.
    auto& e = evaluated->evaluated;
    e.tries = schedule.accept(message.node, r.id, r.lease, e.seconds);
    if (e.tries == 0)
      continue;
    e.slot = node->second.view.name;
    open.erase(r.id);
    accepted.batch.push_back({std::move(e), r.weights});
  }
  node->second.view.epoch = 0;
  if (!accepted.batch.empty())
    self->send(selector, std::move(accepted));
  serve();
}

void dispatcher_state::show(const epoch_passed& message) {
  auto found = nodes.find(message.node);
  if (found == nodes.end())
    return;
  schedule.hear(message.node, self->clock().now());
  found->second.view.epoch = message.number;
  found->second.view.epochs = message.of;
}

void dispatcher_state::lose(node_id id, const std::string& reason) {
  auto found = nodes.find(id);
  if (found == nodes.end())
    return;
  const auto name = found->second.view.name;
  nodes.erase(found);
  evaluations given_up;
  for (const auto& lost : schedule.leave(id)) {
    self->send(
        selector,
        observation{attempt_failed{
            .id = lost.id, .attempt = lost.attempt, .slot = name, .reason = reason}});
    if (!lost.given_up)
      continue;
    open.erase(lost.id);
    evaluation e{.id = lost.id, .outcome = outcome::crashed};
    e.reason = "two node processes ended while they trained it (" + reason + ")";
    e.slot = name;
    e.tries = lost.attempt;
    given_up.batch.push_back({std::move(e), {}});
  }
  self->send(selector,
             observation{slot_changed{.slot = name, .joined = false, .reason = reason}});
  if (!given_up.batch.empty())
    self->send(selector, std::move(given_up));
  serve();
}

void dispatcher_state::lose_silent() {
  for (auto id : schedule.silent(self->clock().now())) {
    if (auto found = nodes.find(id); found != nodes.end())
      self->send(found->second.handle,
                 leave{.reason = "not heard for too long", .come_back = true});
    lose(id, "not heard for "
                 + std::to_string(std::chrono::duration_cast<std::chrono::seconds>(
                                      params.schedule.lease)
                                      .count())
                 + " s");
  }
}

withdrawn dispatcher_state::take_back() {
  withdrawn answer{schedule.withdraw()};
  for (auto id : answer.ids)
    open.erase(id);
  return answer;
}

void dispatcher_state::serve() {
  for (auto& out : schedule.hand_out()) {
    auto& node = nodes.at(out.node);
    assignments message;
    for (const auto& l : out.leases)
      message.batch.push_back(
          {.id = l.id,
           .lease = l.number,
           .keep_weights_above = std::bit_cast<std::uint64_t>(keep_weights_above),
           .genome = encode(*open.at(l.id).genome)});
    self->send(node.handle, std::move(message));
  }
  examine_next();
}

void dispatcher_state::examine_next() {
  if (schedule.leased() != 0 || schedule.waiting() != 0)
    return;
  for (auto& [id, node] : nodes) {
    if (examinations.empty())
      return;
    if (!node.view.ready || node.examining)
      continue;
    node.examining = true;
    auto pending = std::move(examinations.front());
    examinations.pop_front();
    ++pending.tries;
    auto request = pending.request;
    self->request(node.handle, caf::infinite, std::move(request))
        .then(
            [this, id = id, pending](const examined& e) mutable {
              if (auto found = nodes.find(id); found != nodes.end())
                found->second.examining = false;
              pending.answer.deliver(e);
              serve();
            },
            [this, id = id, pending](caf::error&) mutable {
              if (auto found = nodes.find(id); found != nodes.end())
                found->second.examining = false;
              if (pending.tries < examination_tries)
                examinations.push_back(std::move(pending));
              else
                pending.answer.deliver(examined{"the node process ended in each of "
                                                    + std::to_string(pending.tries)
                                                    + " tries",
                                                {}});
              serve();
            });
  }
}

void dispatcher_state::dismiss(const std::string& reason) {
  leaving = true;
  for (auto& [id, node] : nodes)
    self->send(node.handle, leave{reason});
}

dispatcher_actor::behavior_type
dispatcher_behavior(dispatcher_actor::stateful_pointer<dispatcher_state> self,
                    dispatcher_params params) {
  auto& s = self->state;
  s.self = self;
  s.schedule = schedule(params.schedule);
  s.params = std::move(params);
  self->set_down_handler([self](caf::down_msg& down) {
    auto& nodes = self->state.nodes;
    auto found = std::ranges::find_if(
        nodes, [&](const auto& n) { return n.second.handle.address() == down.source; });
    if (found != nodes.end())
      self->state.lose(found->first, "its node process ended");
  });
  return {
      [self](const node_hello& hello, const node_actor& node) {
        return self->state.welcome(hello, node);
      },
      [self](const node_ready& message) { self->state.ready(message); },
      [self](const results& message) { self->state.take(message); },
      [self](const epoch_passed& message) { self->state.show(message); },
      [self](const heartbeat& message) {
        self->state.schedule.hear(message.node, self->clock().now());
      },
      [self](const selector_actor& selector) {
        self->state.selector = selector;
        self->delayed_send(self, tick_interval, tick{});
      },
      [self](tick) {
        self->state.lose_silent();
        self->delayed_send(self, tick_interval, tick{});
      },
      [self](const submission& message) { self->state.take(message); },
      [self](const withdraw&) { return self->state.take_back(); },
      [self](const examine& request) {
        auto promise = self->make_response_promise<examined>();
        self->state.examinations.push_back({request, promise, 0});
        self->state.serve();
        return promise;
      },
      [self](const slots_query&) {
        auto& s = self->state;
        slots_view answer{.slots = {}, .waiting = s.schedule.waiting()};
        for (const auto& [id, node] : s.nodes) {
          answer.slots.push_back(node.view);
          const auto leases = s.schedule.leases_of(id);
          answer.slots.back().training = leases.empty() ? 0 : leases.front().id;
        }
        return answer;
      },
      [self](const leave& message) { self->state.dismiss(message.reason); },
  };
}

} // namespace clade
