// Gangs of which every node does a part. Their tasks outlive any member: the lease of a
// team stays the same whoever has it, and its first member is only the one that is asked.
#include "engine/scheduling/schedule.hpp"

#include <algorithm>

namespace clade {

namespace {

// Members that left, of which it may still become known how their processes ended.
constexpr std::size_t most_left = 1000;

} // namespace

std::vector<formed_team> schedule::teams() const {
  std::vector<formed_team> all;
  if (!has_gangs_)
    return all;
  for (const auto& [id, n] : nodes_)
    for (const auto& l : n.leases)
      if (l.given.task.needs.team) {
        formed_team t{
            .given = l.lease, .slots = l.given.task.needs.slots, .members = {id}};
        t.members.insert(t.members.end(), l.others.begin(), l.others.end());
        all.push_back(std::move(t));
      }
  return all;
}

std::uint32_t schedule::shares_of(const task_id& id) const {
  for (const auto& [node, n] : nodes_)
    for (const auto& l : n.leases)
      if (l.lease.id == id)
        return l.given.task.needs.team ? l.given.task.needs.slots : 0;
  return 0;
}

std::vector<node_id> schedule::members_of(const task_id& id) const {
  for (const auto& [node, n] : nodes_)
    for (const auto& l : n.leases)
      if (l.lease.id == id) {
        std::vector<node_id> all{node};
        if (l.given.task.needs.team)
          all.insert(all.end(), l.others.begin(), l.others.end());
        return all;
      }
  return {};
}

// Acquits the nodes that did it together with the one whose lease it is.
void schedule::acquit_team(const leased_task& done) {
  for (const auto id : done.others)
    if (const auto found = nodes_.find(id); found != nodes_.end())
      quarantine_.succeed(found->second.offer.slot);
}

bool schedule::in_team(node_id id, const lease& l) const {
  return std::ranges::any_of(teams(), [&](const formed_team& t) {
    return t.given.id == l.id && t.given.number == l.number
           && std::ranges::find(t.members, id) != t.members.end();
  });
}

// True: it was in a team, which goes on without it.
bool schedule::leave_teams(node_id id) {
  if (!has_gangs_)
    return false;
  const auto left = [&](const task_id& task) {
    left_teams_[id] = task;
    if (left_teams_.size() > most_left)
      left_teams_.erase(left_teams_.begin());
    return true;
  };
  for (auto& [leader, n] : nodes_)
    for (auto& l : n.leases)
      if (l.given.task.needs.team && std::erase(l.others, id) != 0)
        return left(l.lease.id);
  auto& own = nodes_.at(id).leases;
  if (own.empty() || !own.front().given.task.needs.team || own.front().others.empty())
    return false;
  auto task = std::move(own.front());
  own.erase(own.begin());
  const auto next = task.others.front();
  task.others.erase(task.others.begin());
  const auto name = task.lease.id;
  nodes_.at(next).leases.push_back(std::move(task));
  return left(name);
}

void schedule::leave_silent_teams(clock::time_point now) {
  for (const auto& t : teams())
    for (const auto id : t.members)
      if (const auto& n = nodes_.at(id); now - n.heard > params_.quiet)
        static_cast<void>(leave_teams(id));
}

// The process of a member that left had ended by its own doing.
std::vector<lost_lease> schedule::blame_team(node_id id, const std::string& slot) {
  const auto left = left_teams_.extract(id);
  if (!left)
    return {};
  for (auto& [node, n] : nodes_)
    for (auto l = n.leases.begin(); l != n.leases.end(); ++l)
      if (l->lease.id == left.mapped() && blame(l->given, slot)) {
        const lost_lease lost{
            .id = l->lease.id, .attempt = l->lease.attempt, .given_up = true};
        n.leases.erase(l);
        --leased_;
        return {lost};
      }
  return {};
}

std::optional<lost_lease> schedule::decline(node_id id, const lease& what,
                                            clock::time_point now) {
  const auto found = nodes_.find(id);
  if (found == nodes_.end())
    return std::nullopt;
  auto& own = found->second.leases;
  const auto held = std::ranges::find_if(own, [&](const auto& l) {
    return l.lease.id == what.id && l.lease.number == what.number;
  });
  if (held == own.end() && !in_team(id, what))
    return std::nullopt;
  const auto& slot = found->second.offer.slot;
  quarantine_.rest(slot, now);
  if (leave_teams(id)) {
    left_teams_.erase(id); // Its process lives.
    return lost_lease{.id = what.id, .attempt = what.attempt};
  }
  const lost_lease lost{.id = what.id, .attempt = held->lease.attempt};
  auto again = std::move(held->given);
  own.erase(held);
  --leased_;
  again.attempt += 1;
  again.lost_on = slot;
  queue_.insert(std::move(again));
  return lost;
}

// Free nodes take the places of those that left before anything else is handed out.
void schedule::fill_teams(round& r, std::vector<handout>& result) {
  if (!has_gangs_)
    return;
  for (auto& [leader, n] : nodes_)
    for (auto& l : n.leases) {
      const auto& needs = l.given.task.needs;
      while (needs.team && l.others.size() + 1 < needs.slots) {
        const auto next = std::ranges::find_if(nodes_, [&](const auto& other) {
          return other.second.leases.empty() && !r.taken.contains(other.first)
                 && takes(other.second, r.now) && fits(other.second.offer, l.given);
        });
        if (next == nodes_.end())
          break;
        l.others.push_back(next->first);
        r.take(next->first, next->second.offer.machine, r.ends[leader] - r.now);
        result.push_back({.node = next->first, .leases = {l.lease}});
      }
    }
}

} // namespace clade
