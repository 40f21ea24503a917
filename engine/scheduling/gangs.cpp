// Tasks that need several slots at once. A machine is chosen whose free slots they fill
// best; where none has enough, the slots of one are kept until they are free.
#include "engine/scheduling/schedule.hpp"

#include <algorithm>

namespace clade {

namespace {

using slots_of_machines = std::map<std::uint64_t, std::vector<node_id>>;

} // namespace

// As after `give`, to a node that had the task from an earlier head.
void schedule::hold_others(node_id leader) {
  auto& n = nodes_.at(leader);
  auto& task = n.leases.back();
  const auto held = held_nodes();
  for (const auto& [id, other] : nodes_)
    if (id != leader && task.others.size() + 1 < task.given.task.needs.slots
        && other.offer.machine == n.offer.machine && other.leases.empty()
        && !held.contains(id))
      task.others.push_back(id);
}

std::set<node_id> schedule::held_nodes() const {
  std::set<node_id> held;
  if (!has_gangs_)
    return held;
  for (const auto& [id, n] : nodes_)
    for (const auto& l : n.leases)
      held.insert(l.others.begin(), l.others.end());
  return held;
}

std::optional<node_id> schedule::leader_of(node_id node) const {
  for (const auto& [id, n] : nodes_)
    for (const auto& l : n.leases)
      if (std::ranges::find(l.others, node) != l.others.end())
        return id;
  return std::nullopt;
}

std::size_t schedule::largest_gang() const {
  std::map<std::uint64_t, std::size_t> slots;
  std::size_t largest = 0;
  for (const auto& [id, n] : nodes_)
    if (n.ready && !n.retired)
      largest = std::max(largest, ++slots[n.offer.machine]);
  return largest;
}

// The slots of the machine that has the fewest free ones to spare. The first of them does
// the task: not the slot that lost it last, if there is another one.
std::vector<node_id> schedule::members_for(const waiting_task& c,
                                           const std::set<node_id>& not_free,
                                           clock::time_point now) const {
  slots_of_machines free;
  for (const auto& [id, n] : nodes_)
    if (takes(n, now) && n.leases.empty() && !not_free.contains(id) && fits(n.offer, c))
      free[n.offer.machine].push_back(id);
  std::erase_if(free,
                [&](const auto& f) { return f.second.size() < c.task.needs.slots; });
  if (free.empty())
    return {};
  auto chosen = std::ranges::min_element(free, {}, [](const auto& f) {
                  return f.second.size();
                })->second;
  std::ranges::stable_partition(
      chosen, [&](node_id id) { return nodes_.at(id).offer.slot != c.lost_on; });
  chosen.resize(c.task.needs.slots);
  return chosen;
}

// Of the machine with the most free slots among those that have enough, these and then
// others: as many as it needs.
std::vector<node_id> schedule::kept_for(const waiting_task& c,
                                        const std::set<node_id>& not_free,
                                        clock::time_point now) const {
  struct slots_there {
    std::vector<node_id> free, busy;
  };
  std::map<std::uint64_t, slots_there> machines;
  for (const auto& [id, n] : nodes_) {
    if (!n.ready || n.retired || !fits(n.offer, c)
        || quarantine_.until(n.offer.slot, now))
      continue;
    auto& there = machines[n.offer.machine];
    const bool idle = n.leases.empty() && !not_free.contains(id);
    (idle ? there.free : there.busy).push_back(id);
  }
  std::erase_if(machines, [&](const auto& m) {
    return m.second.free.size() + m.second.busy.size() < c.task.needs.slots;
  });
  if (machines.empty())
    return {};
  auto& [free, busy] = std::ranges::max_element(machines, {}, [](const auto& m) {
                         return m.second.free.size();
                       })->second;
  free.insert(free.end(), busy.begin(), busy.end());
  free.resize(c.task.needs.slots);
  return free;
}

// Whatever is kept for a gang, or given to one, is not free for others in this round.
std::vector<handout> schedule::hand_out_gangs(clock::time_point now,
                                              std::set<node_id>& not_free) {
  std::vector<handout> result;
  if (!has_gangs_)
    return result;
  std::set<std::uint64_t> waited_for;
  for (auto next = queue_.begin(); next != queue_.end();) {
    const auto at = next++;
    if (at->task.needs.slots <= 1)
      continue;
    if (auto members = members_for(*at, not_free, now); !members.empty()) {
      not_free.insert(members.begin(), members.end());
      auto& leader = nodes_.at(members.front());
      const auto lease = give(leader, queue_.extract(at).value());
      leader.leases.back().others.assign(members.begin() + 1, members.end());
      result.push_back({.node = members.front(), .leases = {lease}});
      continue;
    }
    const auto kept = kept_for(*at, not_free, now);
    if (!kept.empty() && waited_for.insert(nodes_.at(kept.front()).offer.machine).second)
      not_free.insert(kept.begin(), kept.end());
  }
  return result;
}

} // namespace clade
