// Tasks that need several slots at once. A machine is chosen whose free slots they fill
// best; where none has enough, slots of one are kept until all are free.
#include "engine/scheduling/schedule.hpp"

#include <algorithm>
#include <functional>

namespace clade {

namespace {

constexpr double longest_seconds = 1e9;
// A task's, as long as nothing was measured.
constexpr auto unknown_time = std::chrono::hours(1);
// So many gangs are looked at in one round, so that a long queue costs little.
constexpr std::size_t most_tries = 200;

using slots_of_machines = std::map<std::uint64_t, std::vector<node_id>>;

/// All of them, those of machines with many first: so the fewest machines are needed.
std::vector<node_id> of_largest(const slots_of_machines& free) {
  std::vector<const std::vector<node_id>*> machines;
  for (const auto& [machine, nodes] : free)
    machines.push_back(&nodes);
  std::ranges::stable_sort(machines, std::greater{},
                           [](const auto* nodes) { return nodes->size(); });
  std::vector<node_id> all;
  for (const auto* nodes : machines)
    all.insert(all.end(), nodes->begin(), nodes->end());
  return all;
}

} // namespace

// Holds others as after `give`, to a node that had the task from an earlier head.
void schedule::hold_others(node_id leader) {
  auto& n = nodes_.at(leader);
  auto& task = n.leases.back();
  if (task.given.task.needs.team)
    return; // They come by themselves.
  const auto resting = held();
  for (const auto& [id, other] : nodes_)
    if (id != leader && task.others.size() + 1 < task.given.task.needs.slots
        && other.offer.machine == n.offer.machine && other.leases.empty()
        && !resting.contains(id))
      task.others.push_back(id);
}

std::map<node_id, node_id> schedule::held() const {
  std::map<node_id, node_id> found;
  if (!has_gangs_)
    return found;
  for (const auto& [id, n] : nodes_)
    for (const auto& l : n.leases)
      for (const auto other : l.others)
        found.emplace(other, id);
  return found;
}

bool schedule::round::free(node_id id, std::optional<clock::duration> takes) const {
  if (taken.contains(id))
    return false;
  const auto until = kept.find(id);
  return until == kept.end() || (takes && *takes < until->second - now);
}

void schedule::round::take(node_id id, std::uint64_t machine, clock::duration takes) {
  taken.insert(id);
  ends[id] = now + takes;
  const auto there = idle.find(machine);
  if (there == idle.end())
    return;
  std::erase(there->second, id);
  if (there->second.empty())
    idle.erase(there);
}

std::optional<schedule::clock::duration> schedule::expected_time(const task& t) const {
  if (seconds_per_work_ < 0)
    return std::nullopt;
  const double seconds = std::clamp(
      seconds_per_work_ * t.work / std::max(1U, t.needs.slots), 0.0, longest_seconds);
  return std::chrono::duration_cast<clock::duration>(
      std::chrono::duration<double>(seconds));
}

schedule::round schedule::begin_round(clock::time_point now) const {
  round r{.now = now};
  if (!has_gangs_)
    return r;
  // Later than now, even where it should be over.
  const auto end_of = [&](const leased_task& l) {
    const auto takes = expected_time(l.given.task);
    return takes ? std::max(now + clock::duration(1), l.since + *takes)
                 : now + unknown_time;
  };
  for (const auto& [id, n] : nodes_) {
    auto& end = r.ends[id];
    end = std::max(end, now);
    for (const auto& l : n.leases) {
      end = std::max(end, end_of(l));
      for (const auto other : l.others) {
        r.taken.insert(other);
        r.ends[other] = std::max(r.ends[other], end_of(l));
      }
    }
  }
  for (const auto& [id, n] : nodes_)
    if (n.leases.empty() && !r.taken.contains(id) && takes(n, now))
      r.idle[n.offer.machine].push_back(id);
  return r;
}

// The slots of the machine that has the fewest free ones to spare. The first of them does
// the task: not the slot that lost it last, if there is another one.
std::vector<node_id> schedule::members_for(const waiting_task& c, const round& r) const {
  const auto time = expected_time(c.task);
  slots_of_machines free;
  for (const auto& [machine, idle] : r.idle)
    std::ranges::copy_if(idle, std::back_inserter(free[machine]), [&](node_id id) {
      return r.free(id, time) && fits(nodes_.at(id).offer, c);
    });
  auto of_several = c.task.needs.team ? of_largest(free) : std::vector<node_id>();
  std::erase_if(free,
                [&](const auto& f) { return f.second.size() < c.task.needs.slots; });
  if (free.empty() && of_several.size() >= c.task.needs.slots)
    free.emplace(0, std::move(of_several));
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

// Keeps slots of the machine on which the gang can begin first: the first to be free.
void schedule::keep_for(const waiting_task& c, round& r,
                        std::set<std::uint64_t>& machines_waited_for) const {
  std::map<std::uint64_t, std::vector<std::pair<clock::time_point, node_id>>> machines;
  for (const auto& [id, n] : nodes_)
    if (n.ready && !n.retired && fits(n.offer, c)
        && !quarantine_.until(n.offer.slot, r.now)
        && !machines_waited_for.contains(n.offer.machine))
      machines[c.task.needs.team ? 0 : n.offer.machine].emplace_back(r.ends.at(id), id);
  const auto slots = c.task.needs.slots;
  const std::vector<std::pair<clock::time_point, node_id>>* best = nullptr;
  for (auto& [machine, nodes] : machines) {
    std::ranges::sort(nodes);
    if (nodes.size() >= slots
        && (best == nullptr || nodes[slots - 1] < (*best)[slots - 1]))
      best = &nodes;
  }
  if (best == nullptr)
    return;
  const auto begins = (*best)[slots - 1].first;
  for (std::size_t i = 0; i < slots; ++i) {
    r.kept.emplace((*best)[i].second, begins);
    machines_waited_for.insert(nodes_.at((*best)[i].second).offer.machine);
  }
}

// Gangs for which no machine has enough idle slots cost next to nothing here, once there
// is one to keep slots for on each machine.
void schedule::hand_out_gangs(round& r, std::vector<handout>& result) {
  std::set<std::uint64_t> machines_waited_for;
  std::size_t tries = 0;
  for (auto next = queue_.begin(); next != queue_.end() && tries < most_tries;) {
    const auto at = next++;
    const auto slots = at->task.needs.slots;
    if (!has_gangs_ || r.idle.empty())
      break;
    if (slots <= 1)
      continue;
    const bool some_machine =
        at->task.needs.team || std::ranges::any_of(r.idle, [&](const auto& m) {
          return m.second.size() >= slots;
        });
    if (!some_machine && machines_waited_for.size() >= r.idle.size())
      continue;
    ++tries;
    const auto members = some_machine ? members_for(*at, r) : std::vector<node_id>();
    if (members.empty()) {
      keep_for(*at, r, machines_waited_for);
      continue;
    }
    const auto takes = expected_time(at->task);
    for (const auto id : members)
      r.take(id, nodes_.at(id).offer.machine, takes.value_or(unknown_time));
    auto& leader = nodes_.at(members.front());
    const auto lease = give(leader, queue_.extract(at).value(), r.now);
    leader.leases.back().others.assign(members.begin() + 1, members.end());
    const auto told = leader.leases.back().given.task.needs.team ? members.size() : 1;
    for (std::size_t i = 0; i < told; ++i)
      result.push_back({.node = members[i], .leases = {lease}});
  }
}

} // namespace clade
