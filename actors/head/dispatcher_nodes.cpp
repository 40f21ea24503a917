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

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace clade {

namespace {

constexpr auto session_of = [](const auto& node) { return node.second.session; };

rounding_slot rounding_of(const dispatcher_state::node_entry& node) {
  return {.slot = node.view.name, .rounding = node.rounding};
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
    std::ignore = lost.forget(hello.session); // It was silent only.
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
  node.view.clock_ahead = clock_ahead(hello.clock_ms, unix_ms());
  self->monitor(link);
  schedule.join(id,
                {.slot = hello.slot,
                 .memory_bytes = hello.memory_bytes,
                 .measured = hello.measured,
                 .device = std::string(device_kind_of(hello.slot)),
                 .machine = hello.worker},
                now(), node.view.ready || hello.ready);
  std::vector<lease> has;
  for (const auto& h : hello.has) {
    has.push_back({.id = h.id, .number = h.lease});
    // An earlier head formed them.
    last_generation = std::max(last_generation, h.generation);
  }
  for (const auto& l : leases_kept(schedule, id, has, back))
    answer.keep.push_back({.id = l.id, .lease = l.number});
  if (back || !hello.has.empty())
    say(fmt::format("{} is back, with {} of {} candidates it had", hello.slot,
                    answer.keep.size(), hello.has.size()));
  answer.node = id;
  answer.heartbeat_ms =
      static_cast<std::uint64_t>(heartbeat_for(params.schedule.lease).count());
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
    } else if (const auto node = lost.forget(end.session); node && end.own_doing) {
      if (const auto convicted = schedule.convict(*node))
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

void dispatcher_state::join(node_id id, node_entry& node) {
  node.view.ready = true;
  node.at_work = now();
  schedule.enable(id);
  say(fmt::format("{} joined{}{}", node.view.name, node.view.label.empty() ? "" : ": ",
                  node.view.label));
  if (first_rounding.rounding == 0)
    first_rounding = rounding_of(node);
  if (rounds_otherwise(rounding_of(node), first_rounding))
    say(fmt::format(
        "{} rounds otherwise than {}: weights have other last bits there; "
        "training.arithmetic = \"portable\" makes them equal on all x86-64 processors",
        node.view.name, first_rounding.slot));
  // The device says what its evaluations' last bits depend on.
  slot_changed joined{.slot = node.view.name, .joined = true, .reason = node.view.label};
  if (node.rounding != 0)
    joined.rounding = node.rounding;
  self->send(selector, observation{std::move(joined)});
}

void dispatcher_state::ready(const node_ready& message) {
  auto found = nodes.find(message.node);
  if (found == nodes.end() || found->second.view.ready)
    return;
  auto& node = found->second;
  node.team = message.team;
  node.rounding = message.rounding;
  const auto failure =
      !message.failure.empty()
          ? message.failure
          : why_unfit(rounding_of(node), first_rounding,
                      {.portable = params.portable, .by_team = params.by_team});
  if (failure.empty()) {
    join(found->first, node);
    return serve();
  }
  say(fmt::format("{} cannot train: {}", node.view.name, failure));
  if (node.worker == params.local_worker)
    self->send(selector, run_failure{{error_kind::invalid_input, failure}});
  self->send(node.link, leave{"it cannot train"});
}

may_leave dispatcher_state::let_go(const leaving& message) {
  auto found = nodes.find(message.node);
  if (found == nodes.end())
    return {};
  schedule.retire(message.node, message.not_done);
  say(fmt::format("{} leaves; it handed back {} candidates", found->second.view.name,
                  message.not_done.size()));
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
  say(fmt::format("{} left: {}", name, reason));
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
    lost.remember(found->second.session, id);
  const auto reason = end.session == 0 ? end.how : "its node process ended: " + end.how;
  leave_entry(found, reason);
  const bool before = schedule.quarantined(name, now()).has_value();
  const auto all_lost = schedule.leave(id, now(), end.own_doing);
  for (const auto& one : all_lost) {
    note_failure(name, one, reason);
    if (one.id.type != task_type::train)
      say(fmt::format("{} lost {}", name, to_text(one.id)));
    else
      tell_attempt(name, one, reason);
  }
  if (!before)
    say_quarantine(name, "lost what it was given several times in a row");
  give_up(all_lost, name, end.how);
  serve();
}

// If others of its team go on, no attempt has failed.
void dispatcher_state::take_decline(node_id id, const result& r, const std::string& why) {
  const auto declined = schedule.decline(id, {.id = r.id, .number = r.lease}, now());
  if (!declined)
    return;
  const auto& name = nodes.at(id).view.name;
  note_failure(name, *declined, why);
  if (schedule.members_of(r.id).empty())
    tell_attempt(name, *declined, why);
  say_quarantine(name, fmt::format("cannot go on with {}, as {}", to_text(r.id), why));
}

void dispatcher_state::note_failure(const std::string& slot, const lost_lease& what,
                                    const std::string& reason) {
  auto& f = failures[slot];
  f.slot = slot;
  ++f.count;
  f.last = fmt::format("{}: {}", to_text(what.id), reason);
}

void dispatcher_state::tell_attempt(const std::string& slot, const lost_lease& what,
                                    const std::string& reason) const {
  self->send(selector, observation{attempt_failed{.id = what.id.candidate,
                                                  .attempt = what.attempt,
                                                  .slot = slot,
                                                  .reason = reason}});
}

void dispatcher_state::say_quarantine(const std::string& slot,
                                      const std::string& why) const {
  if (const auto until = schedule.quarantined(slot, now()))
    say(fmt::format("{} {}: it is quarantined, and tried again in {} s", slot, why,
                    std::chrono::ceil<std::chrono::seconds>(*until - now()).count()));
}

void dispatcher_state::give_up(const std::vector<lost_lease>& all_lost,
                               const std::string& slot, const std::string& how) {
  evaluations given_up;
  for (const auto& one : all_lost) {
    if (!one.given_up)
      continue;
    if (one.id.type != task_type::train) {
      answer_test(one.id,
                  {fail(error_kind::internal,
                        "two node processes ended while they made it, the last " + how)});
      continue;
    }
    end(one.id.candidate);
    given_up.batch.push_back({crashed_evaluation(one, slot, how), {}});
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
                          : fmt::format("not heard for {} s", silence)});
  }
}

} // namespace clade
