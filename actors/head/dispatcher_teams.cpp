// Members of a team link themselves to each other (actors/transport/team/team_door.hpp); who
// they are is decided here alone. Whenever that changes, every member is told. A member
// that is lost is noticed by the others at once and by the head soon; what the others then
// do waits for its word.

#include "actors/head/dispatcher.hpp"
#include "engine/training/parallel/common/updates_log.hpp"

#include <algorithm>
#include <utility>

namespace clade {

void dispatcher_state::form_teams() {
  const auto present = schedule.teams();
  std::erase_if(teams, [&](const auto& known) {
    return std::ranges::none_of(present,
                                [&](const auto& t) { return t.given.id == known.first; });
  });
  for (const auto& t : present) {
    auto& known = teams[t.given.id];
    if (known == t.members)
      continue;
    form(t);
    if (!known.empty())
      say(to_text(t.given.id) + " goes on with " + std::to_string(t.members.size())
          + " of " + std::to_string(t.slots) + " slots");
    known = t.members;
  }
}

void dispatcher_state::form(const formed_team& team) {
  team_formed message{
      .id = team.given.id, .generation = ++last_generation, .own = 0, .members = {}};
  for (const auto id : team.members)
    message.members.push_back(
        {.worker = nodes.at(id).worker, .address = nodes.at(id).team});
  for (const auto id : team.members) {
    auto& seen = nodes.at(id).view.team;
    seen.member = message.own + 1;
    seen.members = static_cast<std::uint32_t>(team.members.size());
    if (const auto& link = nodes.at(id).link)
      self->send(link, message);
    ++message.own;
  }
}

// Looks as often as members tell of their work.
void dispatcher_state::look_for_stragglers() {
  using namespace std::chrono_literals;
  const auto since =
      std::chrono::duration_cast<std::chrono::milliseconds>(now() - stragglers_seen_at);
  if (teams.empty() || since < 1s) {
    stragglers_seen_at = teams.empty() ? now() : stragglers_seen_at;
    return;
  }
  stragglers_seen_at = now();
  for (const auto& sentence : stragglers.look(view(), since))
    say(sentence);
}

// The part that a member has in the log is its place in the team, while all are there.
void dispatcher_state::record_stragglers(const evaluation& e,
                                         const std::vector<node_id>& members) {
  auto seen = stragglers.end(e.id);
  const auto log = e.updates && params.gradients_taken > 0
                       ? decode_updates_log(bytes(e.updates->begin(), e.updates->end()))
                       : expected<updates_log>();
  if (log)
    for (const auto& late : late_workers(*log, params.gradients_taken)) {
      const auto place = params.servers + late.worker;
      seen.push_back({.id = e.id,
                      .slot = members.size() == params.servers + log->workers
                                  ? nodes.at(members[place]).view.name
                                  : "of worker " + std::to_string(late.worker + 1),
                      .left_out = late.left_out,
                      .of_gradients = late.of});
    }
  for (auto& one : seen) {
    say(to_text(record(one)));
    self->send(selector, observation{std::move(one)});
  }
}

// The first that comes of a task says only where counting begins.
void dispatcher_state::show(const team_passed& message) {
  const auto found = nodes.find(message.node);
  if (found == nodes.end())
    return;
  auto& node = found->second;
  const auto before = std::exchange(node.passed, message);
  auto& t = node.view.team;
  if (message.time_us <= before.time_us || message.exchanges < before.exchanges
      || message.waited_us < before.waited_us)
    return;
  const auto seconds = static_cast<double>(message.time_us - before.time_us) / 1e6;
  t.steps = static_cast<double>(message.exchanges - before.exchanges) / seconds;
  t.bytes = static_cast<double>(message.bytes_sent - before.bytes_sent) / seconds;
  const auto waits = std::min(
      1.0, static_cast<double>(message.waited_us - before.waited_us) / 1e6 / seconds);
  // The mean weighs the last few seconds: one second differs from the next by chance.
  constexpr double newest = 0.4;
  t.waits = before.exchanges == 0 ? waits : t.waits + newest * (waits - t.waits);
}

// Nodes that have what the head has now, or nobody wants.
void dispatcher_state::forget(const std::vector<node_id>& by, const task_id& done) const {
  for (const auto id : by)
    if (const auto& link = nodes.at(id).link)
      self->send(link, taken{{done}});
}

} // namespace clade
