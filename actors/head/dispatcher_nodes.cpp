// A node says hello, gets the experiment, prepares itself (data, LibTorch's first step)
// and says that it is ready; from then on it is given batches of candidates. It is away
// when its connection closes, or when nothing is heard of it (a cut link, which neither
// TCP nor CAF reports); while its lease lasts it may come back, by another connection,
// with all that it has. It is lost when its lease ends, or when its worker has started
// another process for its slot; what it had is then handed out again or given up, as
// `schedule` decides. After a head was killed, the nodes come to the next one with what
// they have, and get leases on what has no evaluation yet.

#include "actors/head/dispatcher.hpp"
#include "genome/base/wall_clock.hpp"

#include <algorithm>
#include <tuple>

namespace clade {

namespace {

using namespace std::chrono_literals;

// Lost nodes whose workers may still tell how their processes ended.
constexpr std::size_t most_lost_sessions = 1000;

constexpr auto session_of = [](const auto& node) { return node.second.session; };
constexpr auto node_of = [](const auto& lost) { return lost.second; };

std::uint64_t heartbeat_for(std::chrono::milliseconds lease) {
  return static_cast<std::uint64_t>(
      std::clamp<std::chrono::milliseconds>(lease / 4, 100ms, 1s).count());
}

/// Returns how far the other clock is ahead of this machine's; the time that a message
/// takes is too little to matter.
std::chrono::milliseconds clock_ahead(std::uint64_t clock_ms) {
  if (clock_ms == 0)
    return 0ms;
  constexpr std::uint64_t latest = std::uint64_t{1} << 53;
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::min(clock_ms, latest))
                                   - unix_ms());
}

/// "cuda" of "cuda:1" and of "box/cuda:1".
std::string device_of(const std::string& slot) {
  const auto name = slot.substr(slot.rfind('/') + 1);
  return name.substr(0, name.find(':'));
}

} // namespace

caf::result<node_welcome> dispatcher_state::greet(const node_hello& hello,
                                                  const link_actor& link) {
  if (selector)
    return welcome(hello, link);
  auto promise = self->make_response_promise<node_welcome>();
  early.push_back({hello, link, promise});
  return promise;
}

node_welcome dispatcher_state::welcome(const node_hello& hello, const link_actor& link) {
  node_welcome answer{.over = over, .run = params.run};
  // Nobody here wants the work that a node of another run has; it begins anew.
  if (over || (hello.run != 0 && hello.run != params.run))
    return answer;
  hear_of_former(hello);
  auto found = std::ranges::find(nodes, hello.session, session_of);
  const bool back = found != nodes.end();
  if (!back) {
    lost_sessions.erase(hello.session); // It was silent only.
    found = nodes.try_emplace(++last_node).first;
    found->second = {.view = {.name = hello.slot, .label = hello.label},
                     .worker = hello.worker,
                     .session = hello.session,
                     .joined = now()};
  }
  auto& [id, node] = *found;
  node.link = link;
  if (hello.ready) {
    node.team = hello.team;
    node.rounding = hello.rounding;
  }
  node.view.away = false;
  node.view.clock_ahead = clock_ahead(hello.clock_ms);
  self->monitor(link);
  schedule.join(id,
                {.slot = hello.slot,
                 .memory_bytes = hello.memory_bytes,
                 .measured = hello.measured,
                 .device = device_of(hello.slot),
                 .machine = hello.worker},
                now(), node.view.ready || hello.ready);
  std::vector<lease> has, ended;
  for (const auto& h : hello.has) {
    has.push_back({.id = h.id, .number = h.lease});
    // An earlier head formed them.
    last_generation = std::max(last_generation, h.generation);
  }
  ended = back ? schedule.reconcile(id, has) : has;
  for (const auto& l : has)
    if (std::ranges::find(ended, l) == ended.end())
      answer.keep.push_back({.id = l.id, .lease = l.number});
    else if (const auto given = schedule.adopt(id, l.id))
      answer.keep.push_back({.id = l.id, .lease = given->number});
  if (back || !hello.has.empty())
    say(hello.slot + " is back, with " + std::to_string(answer.keep.size()) + " of "
        + std::to_string(hello.has.size()) + " candidates it had");
  answer.node = id;
  answer.heartbeat_ms = heartbeat_for(params.schedule.lease);
  answer.experiment = params.experiment;
  answer.files = params.files;
  if (hello.ready && !node.view.ready)
    join(id, node);
  answer.ready = node.view.ready;
  // Later: what it is given must not overtake its welcome, which does not name it.
  self->send(self, serve_nodes{});
  return answer;
}

// Takes the processes of its slot before it: those that are still held for nodes are
// lost, and of one that was lost already the cause of its death may become known only
// now.
void dispatcher_state::hear_of_former(const node_hello& hello) {
  for (const auto& end : hello.former) {
    const auto held = std::ranges::find(nodes, end.session, session_of);
    if (held != nodes.end()) {
      lose(held->first, end);
    } else if (const auto lost = lost_sessions.extract(end.session);
               lost && end.own_doing) {
      if (const auto convicted = schedule.convict(lost.mapped()))
        give_up({*convicted}, hello.slot, end.how);
    }
  }
  const auto replaced = std::ranges::find_if(nodes, [&](const auto& n) {
    return n.second.worker == hello.worker && n.second.view.name == hello.slot
           && n.second.session != hello.session;
  });
  if (replaced != nodes.end())
    lose(replaced->first, {.how = "its node process ended"});
}

/// Evaluations on it have other last bits than those on that one; 0 stands for any.
bool rounds_otherwise(const dispatcher_state::node_entry& node,
                      const dispatcher_state::rounding_slot& than) {
  return node.rounding != 0 && than.rounding != 0 && node.rounding != than.rounding;
}

void dispatcher_state::join(node_id id, node_entry& node) {
  node.view.ready = true;
  node.at_work = now();
  schedule.enable(id);
  say(node.view.name + " joined" + (node.view.label.empty() ? "" : ": ")
      + node.view.label);
  if (first_rounding.rounding == 0)
    first_rounding = {node.view.name, node.rounding};
  if (rounds_otherwise(node, first_rounding))
    say(node.view.name + " rounds otherwise than " + first_rounding.slot
        + ": weights have other last bits there; training.arithmetic = \"portable\" "
          "makes them equal on all x86-64 processors");
  // The device says what its evaluations' last bits depend on.
  slot_changed joined{.slot = node.view.name, .joined = true, .reason = node.view.label};
  if (node.rounding != 0)
    joined.rounding = node.rounding;
  self->send(selector, observation{std::move(joined)});
}

// Beside those that joined before it; empty: nothing is in the way.
std::string dispatcher_state::why_unfit(const node_entry& node) const {
  const auto& first = first_rounding;
  if (params.portable && rounds_otherwise(node, first))
    return "training.arithmetic = \"portable\" wants equal bits of all slots, and it "
           "rounds otherwise than "
           + first.slot;
  if (params.by_team && !first.slot.empty()
      && device_of(node.view.name) != device_of(first.slot))
    return "slots that share a training are of one kind of device, and " + first.slot
           + " is of another";
  return {};
}

void dispatcher_state::ready(const node_ready& message) {
  auto found = nodes.find(message.node);
  if (found == nodes.end() || found->second.view.ready)
    return;
  auto& node = found->second;
  node.team = message.team;
  node.rounding = message.rounding;
  const auto failure = message.failure.empty() ? why_unfit(node) : message.failure;
  if (failure.empty()) {
    join(found->first, node);
    return serve();
  }
  say(node.view.name + " cannot train: " + failure);
  if (node.worker == params.local_worker)
    self->send(selector, run_failure{{error_kind::invalid_input, failure}});
  self->send(node.link, leave{"it cannot train"});
}

may_leave dispatcher_state::let_go(const leaving& message) {
  auto found = nodes.find(message.node);
  if (found == nodes.end())
    return {};
  schedule.retire(message.node, message.not_done);
  say(found->second.view.name + " leaves; it handed back "
      + std::to_string(message.not_done.size()) + " candidates");
  serve();
  return {};
}

void dispatcher_state::close(const caf::actor_addr& link) {
  auto found = std::ranges::find_if(nodes, [&](const auto& n) {
    return n.second.link && n.second.link.address() == link;
  });
  if (found == nodes.end())
    return;
  auto& [id, node] = *found;
  node.link = nullptr;
  node.view.away = true;
  schedule.close(id, now());
  form_teams();
  if (schedule.retired(id) && schedule.leases_of(id).empty()) {
    std::ignore = schedule.leave(id, now());
    leave_entry(found, "it was drained");
  }
}

void dispatcher_state::leave_entry(std::map<node_id, node_entry>::iterator node,
                                   const std::string& reason) {
  const auto name = node->second.view.name;
  const bool was_ready = node->second.view.ready;
  nodes.erase(node);
  say(name + " left: " + reason);
  if (was_ready)
    self->send(selector, observation{slot_changed{
                             .slot = name, .joined = false, .reason = reason}});
}

void dispatcher_state::lose(node_id id, const former_process& end) {
  auto found = nodes.find(id);
  if (found == nodes.end())
    return;
  const auto name = found->second.view.name;
  if (end.session == 0)
    lost_sessions.emplace(found->second.session, id);
  if (lost_sessions.size() > most_lost_sessions)
    lost_sessions.erase(std::ranges::min_element(lost_sessions, {}, node_of));
  const auto reason = end.session == 0 ? end.how : "its node process ended: " + end.how;
  leave_entry(found, reason);
  const bool before = schedule.quarantined(name, now()).has_value();
  const auto all_lost = schedule.leave(id, now(), end.own_doing);
  for (const auto& lost : all_lost) {
    note_failure(name, lost, reason);
    if (lost.id.type != task_type::train)
      say(name + " lost " + to_text(lost.id));
    else
      tell_attempt(name, lost, reason);
  }
  if (!before)
    say_quarantine(name, "lost what it was given several times in a row");
  give_up(all_lost, name, end.how);
  serve();
}

// If others of its team go on, no attempt has failed.
void dispatcher_state::take_decline(node_id id, const result& r) {
  const auto lost = schedule.decline(id, {.id = r.id, .number = r.lease}, now());
  if (!lost)
    return;
  const auto& name = nodes.at(id).view.name;
  note_failure(name, *lost, r.failure);
  if (schedule.members_of(r.id).empty())
    tell_attempt(name, *lost, r.failure);
  say_quarantine(name, "cannot go on with " + to_text(r.id) + ", as " + r.failure);
}

void dispatcher_state::note_failure(const std::string& slot, const lost_lease& lost,
                                    const std::string& reason) {
  auto& f = failures[slot];
  f.slot = slot;
  ++f.count;
  f.last = to_text(lost.id) + ": " + reason;
}

void dispatcher_state::tell_attempt(const std::string& slot, const lost_lease& lost,
                                    const std::string& reason) const {
  self->send(selector, observation{attempt_failed{.id = lost.id.candidate,
                                                  .attempt = lost.attempt,
                                                  .slot = slot,
                                                  .reason = reason}});
}

void dispatcher_state::say_quarantine(const std::string& slot,
                                      const std::string& why) const {
  if (const auto until = schedule.quarantined(slot, now()))
    say(slot + " " + why + ": it is quarantined, and tried again in "
        + std::to_string(std::chrono::ceil<std::chrono::seconds>(*until - now()).count())
        + " s");
}

void dispatcher_state::give_up(const std::vector<lost_lease>& all_lost,
                               const std::string& slot, const std::string& how) {
  evaluations given_up;
  for (const auto& lost : all_lost) {
    if (!lost.given_up)
      continue;
    if (lost.id.type != task_type::train) {
      answer_test(lost.id,
                  {fail(error_kind::internal,
                        "two node processes ended while they made it, the last " + how)});
      continue;
    }
    open.erase(lost.id.candidate);
    evaluation e{.id = lost.id.candidate, .outcome = outcome::crashed};
    e.reason = "two node processes ended while they trained it, the last " + how;
    e.slot = slot;
    e.tries = lost.attempt;
    given_up.batch.push_back({std::move(e), {}});
  }
  if (!given_up.batch.empty())
    self->send(selector, std::move(given_up));
}

void dispatcher_state::lose_silent() {
  for (auto id : schedule.silent(now())) {
    const bool away = nodes.at(id).view.away;
    const auto silence =
        std::chrono::duration_cast<std::chrono::seconds>(now() - schedule.heard(id))
            .count();
    lose(id, {.how = away ? "its connection ended, and it did not come back"
                          : "not heard for " + std::to_string(silence) + " s"});
  }
}

} // namespace clade
