// Members of a team link themselves to each other (actors/transport/team_door.hpp); who
// they are is decided here alone. Whenever that changes, every member is told. A member
// that is lost is noticed by the others at once and by the head soon; what the others then
// do waits for its word.

#include "actors/head/dispatcher.hpp"

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
  t.waits = std::min(1.0, static_cast<double>(message.waited_us - before.waited_us) / 1e6
                              / seconds);
}

// Nodes that have what the head has now, or nobody wants.
void dispatcher_state::forget(const std::vector<node_id>& by, const task_id& done) const {
  for (const auto id : by)
    if (const auto& link = nodes.at(id).link)
      self->send(link, taken{{done}});
}

} // namespace clade
