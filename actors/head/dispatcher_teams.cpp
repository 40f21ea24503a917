// Members of a team link themselves to each other (actors/transport/team/team_door.hpp); who
// they are is decided here alone. Whenever that changes, every member is told. A member
// that is lost is noticed by the others at once and by the head soon; what the others then
// do waits for its word.

#include "actors/head/dispatcher.hpp"
#include "engine/training/parallel/common/updates_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace clade {

void dispatcher_state::form_teams() {
  for (const auto& [team, goes_on] : teams.update(schedule.teams())) {
    form(team);
    if (goes_on)
      say(fmt::format("{} goes on with {} of {} slots", to_text(team.given.id),
                      team.members.size(), team.slots));
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
                                  : fmt::format("of worker {}", late.worker + 1),
                      .left_out = late.left_out,
                      .of_gradients = late.of});
    }
  for (auto& one : seen) {
    say(to_text(record(one)));
    self->send(selector, observation{std::move(one)});
  }
}

void dispatcher_state::show(const team_passed& message) {
  const auto found = nodes.find(message.node);
  if (found == nodes.end())
    return;
  auto& node = found->second;
  const team_work work{.exchanges = message.exchanges,
                       .bytes_sent = message.bytes_sent,
                       .waited_us = message.waited_us,
                       .time_us = message.time_us};
  add_work(node.view.team, std::exchange(node.passed, work), work);
}

// Nodes that have what the head has now, or nobody wants.
void dispatcher_state::forget(const std::vector<node_id>& by, const task_id& done) const {
  for (const auto id : by)
    if (const auto& link = nodes.at(id).link)
      self->send(link, taken{{done}});
}

} // namespace clade
