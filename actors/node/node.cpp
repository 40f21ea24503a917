#include "actors/node/node.hpp"

#include "actors/node/peak_memory.hpp"
#include "genome/base/wall_clock.hpp"

#include <algorithm>
#include <random>
#include <utility>

// The trainer, the evaluator and this actor are of one actor system, which has no
// network; each connection is an actor of another one (actors/transport/link/link.hpp). So
// nothing that happens to a connection reaches what is in training.

namespace clade {

namespace {

using namespace std::chrono_literals;

constexpr auto tick_interval = 1s;
// A training is asked to end when its time is up and does so at the end of a batch or
// epoch; one that has not by then never will.
constexpr std::chrono::milliseconds least_grace = 1s;
constexpr int grace_divisor = 10;
// Formations that overtook their tasks; there is one task at a time.
constexpr std::size_t most_early = 64;

/// Whether the head is to have what became of it: every member of a team has the same
/// result, and one of them answers. Only this node knows a fault that happened here.
bool is_asked(const node_state::held& h) {
  if (!h.team || h.team->answers())
    return true;
  const auto* trained = std::get_if<training_result>(&h.done->what);
  const auto done = trained != nullptr ? decode_record(trained->evaluated)
                                       : fail(error_kind::not_found, "it failed");
  const auto* e = done ? std::get_if<candidate_evaluated>(&*done) : nullptr;
  return e == nullptr || e->evaluated.outcome != outcome::succeeded;
}

} // namespace

node_hello node_state::hello() {
  node_hello message{.slot = params.slot,
                     .label = params.label,
                     .worker = params.worker,
                     .session = session,
                     .run = run,
                     .ready = prepared && prepared->failure.empty(),
                     .memory_bytes = params.memory_bytes,
                     .measured = measures_memory(params.device),
                     .has = {},
                     .former = params.former,
                     .team = prepared ? prepared->team : team_address{},
                     .rounding = prepared ? prepared->rounding : 0,
                     .clock_ms = static_cast<std::uint64_t>(unix_ms())};
  for (const auto& [task, h] : has)
    message.has.push_back(
        {.id = task, .lease = h.lease, .generation = h.team ? h.team->generation() : 0});
  return message;
}

void node_state::welcome(const node_welcome& message, const link_actor& by) {
  if (!message.refusal.empty())
    return end(node_end::refused, "the run refused this node: " + message.refusal);
  if (message.over)
    return end(node_end::dismissed, "the run is over");
  if (run != 0 && run != message.run)
    return end(node_end::connection, "another run is at this address now");
  link = by;
  id = message.node;
  if (std::exchange(run, message.run) == 0) {
    self->send(trainer, message);
    if (params.joined)
      params.joined();
  }
  std::map<task_id, std::uint64_t> kept;
  for (const auto& k : message.keep)
    kept.emplace(k.id, k.lease);
  std::vector<task_id> dropped;
  for (auto& [task, h] : has)
    if (const auto found = kept.find(task); found != kept.end())
      h.lease = found->second;
    else
      dropped.push_back(task);
  for (const auto& task : dropped)
    drop(task);
  if (!message.ready)
    tell_prepared();
  send_done();
  if (draining)
    start_draining();
}

void node_state::assign(const assignments& message) {
  assignments to_train, to_test;
  for (const auto& a : message.batch) {
    // The node may hold an older attempt at the same task; nobody wants that any more.
    drop(a.id);
    auto& h = has[a.id];
    h = {.given = ++last_given, .lease = a.lease, .done = {}};
    const auto* training = std::get_if<training_task>(&a.what);
    if (training != nullptr && training->shares > 1)
      h.team = work->begin_team(h.given, training->shares);
    if (auto formed = early.extract(a.id); formed && h.team)
      h.team->formed(formed.mapped());
    auto& fresh = training != nullptr ? to_train : to_test;
    fresh.batch.push_back(a);
    fresh.batch.back().lease = last_given;
  }
  if (!to_train.batch.empty())
    self->send(trainer, std::move(to_train));
  if (!to_test.batch.empty())
    self->send(evaluator, std::move(to_test));
}

// A member that has done the task already is asked for it now.
void node_state::form(const team_formed& message) {
  const auto found = has.find(message.id);
  if (found == has.end() || !found->second.team) {
    if (early.size() < most_early)
      early[message.id] = message;
    return;
  }
  found->second.team->formed(message);
  if (found->second.done)
    send_done();
}

void node_state::drop(const task_id& task) {
  early.erase(task);
  const auto found = has.find(task);
  if (found == has.end())
    return;
  work->drop(found->second.given);
  has.erase(found);
}

void node_state::keep(const results& message) {
  results out{.node = id, .batch = {}};
  for (const auto& r : message.batch) {
    const auto found = has.find(r.id);
    if (found == has.end() || found->second.given != r.lease || found->second.done)
      continue;
    auto& h = found->second;
    h.done = r;
    h.done->lease = h.lease;
    if (link && is_asked(h))
      out.batch.push_back(*h.done);
  }
  if (!out.batch.empty())
    self->send(link, std::move(out));
}

void node_state::send_done() {
  results out{.node = id, .batch = {}};
  for (auto& [task, h] : has)
    if (h.done && is_asked(h)) {
      h.done->lease = h.lease;
      out.batch.push_back(*h.done);
    }
  if (!out.batch.empty())
    self->send(link, std::move(out));
}

void node_state::forget(const taken& message) {
  for (const auto& task : message.ids) {
    early.erase(task);
    if (const auto found = has.find(task); found != has.end()) {
      if (!found->second.done)
        work->drop(found->second.given);
      has.erase(found);
    }
  }
  end_if_idle();
}

void node_state::ready(const node_ready& message) {
  prepared = message;
  tell_prepared();
}

// If it cannot train here, the head answers with `leave`.
void node_state::tell_prepared() {
  if (!link || !prepared)
    return;
  prepared->node = id;
  self->send(link, *prepared);
}

// The node hands back at once what it has not begun, and may finish what it is at within
// its grace.
void node_state::start_draining() {
  if (!std::exchange(draining, true))
    self->delayed_send(self, params.grace, drain_over{});
  work->leave();
  const auto current = work->at_work();
  leaving message{.node = id, .not_done = {}};
  // Others of its team go on without it at once.
  const auto can_end = [&](const task_id& task, const held& h) {
    return current && current->task == task && (!h.team || h.team->is_alone());
  };
  for (const auto& [task, h] : has)
    if (!h.done && !can_end(task, h))
      message.not_done.push_back(task);
  for (const auto& task : message.not_done)
    drop(task);
  if (link)
    self->send(link, std::move(message));
}

void node_state::give_up_rest() {
  leaving message{.node = id, .not_done = {}};
  for (const auto& [task, h] : has)
    if (!h.done)
      message.not_done.push_back(task);
  for (const auto& task : message.not_done)
    drop(task);
  may_leave = !link; // Nobody is there to be told.
  if (link)
    self->send(link, std::move(message));
  else
    end_if_idle();
}

// A training that is still at work then keeps its position.
void node_state::end_if_idle() {
  if (stuck && !has.contains(*stuck))
    end(node_end::stuck, "an evaluation did not end in its time");
  else if (draining && may_leave && has.empty() && !work->at_work())
    end(node_end::drained,
        link ? "drained" : "drained; the head was not there to be told");
}

void node_state::look_at_clock() {
  if (ending)
    return;
  if (params.pulse)
    params.pulse();
  self->delayed_send(self, tick_interval, tick{});
  tell_of_team();
  end_if_idle();
  const auto current = work->at_work();
  if (!current || current->limit.count() == 0 || stuck)
    return;
  const auto limit = current->limit;
  const auto elapsed = node_work::clock::now() - current->since;
  if (elapsed < limit + std::max(least_grace, limit / grace_divisor))
    return;
  // A test that hangs gives no result. The worker tells the head how this process ended,
  // and the head has another node try.
  if (current->task.type != task_type::train)
    return end(node_end::overdue, to_text(current->task) + " did not end in its time");
  evaluation e{.id = current->task.candidate, .outcome = outcome::timed_out};
  e.seconds = std::chrono::duration<double>(elapsed).count();
  e.reason = "did not end within limits.evaluation_time and was killed";
  // The process may end only when the head has the result.
  stuck = current->task;
  results last{.node = id, .batch = {}};
  last.batch.push_back(result_of({std::move(e), {}}, current->lease));
  keep(last);
  end_if_idle();
}

void node_state::tell_of_team() {
  for (const auto& [task, h] : has)
    if (link && h.team && !h.done) {
      auto message = h.team->passed();
      message.node = id;
      self->send(link, message);
    }
}

void node_state::end(node_end why, std::string words) {
  if (std::exchange(ending, true))
    return;
  caf::anon_send(ended, static_cast<int>(why), std::move(words));
  self->quit();
}

node_executors spawn_executors(node_actor::stateful_pointer<node_state> node) {
  const auto& s = node->state;
  return {.trainer = node->spawn<caf::detached>(
              trainer_behavior, trainer_params{.work = s.work,
                                               .node = node,
                                               .device = s.params.device,
                                               .open_to_teams = s.params.open_to_teams,
                                               .address = s.params.address,
                                               .programs = s.params.programs}),
          .evaluator = node->spawn<caf::detached>(
              evaluator_behavior, evaluator_params{.work = s.work, .node = node})};
}

node_actor::behavior_type node_behavior(node_actor::stateful_pointer<node_state> self,
                                        node_params params, caf::actor ended,
                                        const make_executors& executors) {
  auto& s = self->state;
  s.self = self;
  s.params = std::move(params);
  s.ended = std::move(ended);
  std::random_device random;
  s.session = s.params.session != 0 ? s.params.session
                                    : (std::uint64_t{random()} << 32) | random();
  const auto made = executors(self);
  s.trainer = made.trainer;
  s.evaluator = made.evaluator;
  self->set_down_handler([self](caf::down_msg& down) {
    if (self->state.link && self->state.link.address() == down.source)
      self->state.link = nullptr;
  });
  self->send(self, tick{});
  return {
      [self](link_up) { return self->state.hello(); },
      [self](const node_welcome& message, const link_actor& by) {
        self->monitor(by);
        self->state.welcome(message, by);
      },
      [self](const assignments& message) { self->state.assign(message); },
      [self](const team_formed& message) { self->state.form(message); },
      [self](const leave& message) {
        auto& s = self->state;
        const bool failed = s.prepared && !s.prepared->failure.empty();
        s.end(failed ? node_end::refused : node_end::dismissed,
              failed ? s.prepared->failure : message.reason);
      },
      [self](const taken& message) { self->state.forget(message); },
      [self](clade::may_leave) {
        self->state.may_leave = true;
        self->state.end_if_idle();
      },
      [self](const node_ready& message) { self->state.ready(message); },
      [self](const results& message) { self->state.keep(message); },
      [self](const epoch_passed& message) {
        if (!self->state.link)
          return;
        auto passed = message;
        passed.node = self->state.id;
        self->send(self->state.link, passed);
      },
      [self](const fetch_chunk& request) -> caf::result<chunk> {
        if (!self->state.link)
          return chunk{"not connected", {}};
        return self->delegate(self->state.link, request);
      },
      [self](drain) { self->state.start_draining(); },
      [self](drain_over) { self->state.give_up_rest(); },
      [self](tick) { self->state.look_at_clock(); },
  };
}

} // namespace clade
