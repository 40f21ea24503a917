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
  for (const auto& t : present)
    if (auto& known = teams[t.given.id]; known.members != t.members)
      form(t, known);
}

void dispatcher_state::form(const formed_team& team, known_team& known) {
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
  if (!known.members.empty())
    say(to_text(team.given.id) + " goes on with " + std::to_string(team.members.size())
        + " of " + std::to_string(params.devices) + " slots");
  known.members = team.members;
}

// The first that comes of a task says only where counting begins.
void dispatcher_state::show(const team_passed& message) {
  const auto found = nodes.find(message.node);
  if (found == nodes.end())
    return;
  auto& node = found->second;
  const auto before = std::exchange(node.passed, message);
  auto& t = node.view.team;
  if (message.time_us <= before.time_us || message.exchanges < before.exchanges)
    return;
  const auto seconds = static_cast<double>(message.time_us - before.time_us) / 1e6;
  t.steps = static_cast<double>(message.exchanges - before.exchanges) / seconds;
  t.bytes = static_cast<double>(message.bytes_sent - before.bytes_sent) / seconds;
  t.waits = static_cast<double>(message.waited_us - before.waited_us) / 1e6 / seconds;
}

// Members that did not send what the head has now, or nobody wants, forget it.
void dispatcher_state::tell_members(const std::vector<node_id>& members,
                                    const task_id& done) {
  for (const auto id : members)
    if (const auto found = nodes.find(id); found != nodes.end() && found->second.link)
      self->send(found->second.link, taken{{done}});
  for (const auto id : members)
    if (const auto found = nodes.find(id); found != nodes.end())
      found->second.view.team = {};
  teams.erase(done);
}

} // namespace clade
