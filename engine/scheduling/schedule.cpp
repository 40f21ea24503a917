#include "engine/scheduling/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace clade {

namespace {

// Weight of the newest evaluation in the mean: some fifty evaluations are remembered.
constexpr double newest_share = 0.02;
// Losses whose cause may still become known.
constexpr std::size_t most_lone_losses = 1000;

void remember(double& mean, double newest) {
  mean = mean < 0 ? newest : mean + newest_share * (newest - mean);
}

} // namespace

void schedule::submit(const task& t) {
  waiting_task waits{.task = t};
  if (!std::isfinite(waits.task.work))
    waits.task.work = 0;
  has_gangs_ = has_gangs_ || t.needs.slots > 1;
  queue_.insert(std::move(waits));
}

std::vector<task_id> schedule::withdraw() {
  std::vector<task_id> result;
  for (const auto& c : queue_)
    result.push_back(c.task.id);
  queue_.clear();
  return result;
}

void schedule::join(node_id id, const offer& o, clock::time_point now, bool ready) {
  node& n = nodes_[id];
  n.offer = o;
  n.ready = n.ready || ready;
  hear(id, now);
}

void schedule::enable(node_id id) {
  if (auto found = nodes_.find(id); found != nodes_.end())
    found->second.ready = true;
}

bool schedule::retired(node_id id) const {
  const auto found = nodes_.find(id);
  return found != nodes_.end() && found->second.retired;
}

// Counts a death by its doing; true: it is given up.
bool schedule::blame(waiting_task& c, const std::string& slot) {
  c.deaths += 1;
  const bool given_up = c.deaths >= params_.deadly_tries;
  // If it died on two slots, it is not the fault of either.
  if (given_up && c.died_on != slot)
    quarantine_.acquit(c.task.id);
  c.died_on = slot;
  return given_up;
}

std::vector<lost_lease> schedule::leave(node_id id, clock::time_point now,
                                        bool own_doing) {
  auto found = nodes_.find(id);
  if (found == nodes_.end())
    return {};
  const auto slot = found->second.offer.slot;
  std::ignore = leave_teams(id);
  std::vector<lost_lease> result;
  if (own_doing)
    result = blame_team(id, slot);
  auto leases = std::move(found->second.leases);
  nodes_.erase(found);
  leased_ -= leases.size();
  const bool lone = leases.size() == 1;
  for (auto& [lease, given, since, others] : leases) {
    if (lone)
      quarantine_.fail(slot, lease.id, own_doing ? 0 : lease.attempt, now);
    const bool given_up = lone && own_doing && blame(given, slot);
    if (lone && !own_doing)
      lone_losses_.emplace(id, lone_loss{lease, slot});
    given.task.alone = true;
    given.attempt += 1;
    given.lost_on = slot;
    result.push_back({.id = lease.id, .attempt = lease.attempt, .given_up = given_up});
    if (!given_up)
      queue_.insert(std::move(given));
  }
  if (lone_losses_.size() > most_lone_losses)
    lone_losses_.erase(lone_losses_.begin());
  return result;
}

std::optional<lost_lease> schedule::convict(node_id id) {
  if (const auto blamed = blame_team(id, {}); !blamed.empty())
    return blamed.front();
  const auto loss = lone_losses_.extract(id);
  if (!loss)
    return std::nullopt;
  const auto& [lease, slot] = loss.mapped();
  const auto waits =
      std::ranges::find_if(queue_, [&](const auto& c) { return c.task.id == lease.id; });
  if (waits != queue_.end()) {
    auto node = queue_.extract(waits);
    if (blame(node.value(), slot))
      return lost_lease{.id = lease.id, .attempt = lease.attempt, .given_up = true};
    queue_.insert(std::move(node));
    return std::nullopt;
  }
  // One that is in training again may still end well.
  for (auto& [other, n] : nodes_)
    for (auto& held : n.leases)
      if (held.lease.id == lease.id)
        blame(held.given, slot);
  return std::nullopt;
}

void schedule::hear(node_id id, clock::time_point now) {
  if (auto found = nodes_.find(id); found != nodes_.end()) {
    left_teams_.erase(id); // It has not died of it.
    found->second.closed = false;
    found->second.heard = now;
    found->second.ends = now + params_.lease;
  }
}

void schedule::close(node_id id, clock::time_point now) {
  if (auto found = nodes_.find(id); found != nodes_.end()) {
    found->second.closed = true;
    std::ignore = leave_teams(id);
    found->second.ends = std::min(found->second.ends, now + params_.closed_lease);
  }
}

std::vector<node_id> schedule::silent(clock::time_point now) const {
  std::vector<node_id> result;
  for (const auto& [id, n] : nodes_)
    if (now > n.ends)
      result.push_back(id);
  return result;
}

std::vector<lease> schedule::reconcile(node_id id, const std::vector<lease>& has) {
  auto found = nodes_.find(id);
  if (found == nodes_.end())
    return has;
  const auto same = [](const lease& a) {
    return [&a](const lease& b) { return a.id == b.id && a.number == b.number; };
  };
  auto& leases = found->second.leases;
  const auto never_arrived = std::ranges::stable_partition(
      leases, [&](const auto& l) { return std::ranges::any_of(has, same(l.lease)); });
  for (auto& l : never_arrived)
    queue_.insert(std::move(l.given));
  leased_ -= never_arrived.size();
  leases.erase(never_arrived.begin(), never_arrived.end());
  std::vector<lease> ended;
  std::ranges::copy_if(has, std::back_inserter(ended), [&](const lease& l) {
    return !in_team(id, l) && std::ranges::none_of(leases, [&](const auto& held) {
      return same(l)(held.lease);
    });
  });
  return ended;
}

std::optional<lease> schedule::adopt(node_id id, const task_id& wanted) {
  const auto node = nodes_.find(id);
  if (node == nodes_.end())
    return std::nullopt;
  for (auto& [leader, n] : nodes_)
    for (auto& l : n.leases)
      if (l.lease.id == wanted && l.given.task.needs.team
          && l.others.size() + 1 < l.given.task.needs.slots) {
        l.others.push_back(id);
        return l.lease;
      }
  const auto waits =
      std::ranges::find_if(queue_, [&](const auto& c) { return c.task.id == wanted; });
  if (waits == queue_.end())
    return std::nullopt;
  const auto given =
      give(node->second, queue_.extract(waits).value(), node->second.heard);
  hold_others(id);
  return given;
}

void schedule::retire(node_id id, const std::vector<task_id>& not_done) {
  auto found = nodes_.find(id);
  if (found == nodes_.end())
    return;
  found->second.retired = true;
  std::ignore = leave_teams(id);
  auto& leases = found->second.leases;
  const auto handed_back = std::ranges::stable_partition(leases, [&](const auto& l) {
    return std::ranges::find(not_done, l.lease.id) == not_done.end();
  });
  for (auto& l : handed_back)
    queue_.insert(std::move(l.given));
  leased_ -= handed_back.size();
  leases.erase(handed_back.begin(), handed_back.end());
}

std::size_t schedule::batch_size() const {
  if (mean_seconds_ < 0)
    return 1;
  const double fits = std::chrono::duration<double>(params_.batch_time).count()
                      / std::max(mean_seconds_, 1e-9);
  return std::clamp<std::size_t>(static_cast<std::size_t>(std::min(fits, 1e9)), 1,
                                 params_.max_batch);
}

bool schedule::takes(const node& n, clock::time_point now) const {
  return n.ready && !n.closed && !n.retired && now - n.heard <= params_.quiet
         && !quarantine_.until(n.offer.slot, now);
}

std::uint64_t schedule::need(const offer& o, const task& t) const {
  const auto all = o.measured ? memory_.need(t.needs.memory_bytes) : t.needs.memory_bytes;
  return all / std::max(1U, t.needs.slots);
}

bool schedule::has_device(const offer& o, const task& t) {
  return t.needs.device.empty() || t.needs.device == o.device;
}

bool schedule::fits(const offer& o, const waiting_task& c) const {
  return has_device(o, c.task)
         && (o.memory_bytes == 0 || need(o, c.task) <= o.memory_bytes);
}

bool schedule::other_slot(const std::string& slot, clock::time_point now) const {
  return std::ranges::any_of(nodes_, [&](const auto& n) {
    return n.second.offer.slot != slot && takes(n.second, now);
  });
}

std::set<schedule::waiting_task>::iterator schedule::next_for(node_id id,
                                                              const round& r) {
  const auto& n = nodes_.at(id);
  return std::ranges::find_if(queue_, [&](const waiting_task& c) {
    return c.task.needs.slots <= 1 && fits(n.offer, c)
           && (c.lost_on != n.offer.slot || c.lost_on.empty()
               || !other_slot(c.lost_on, r.now))
           && (r.kept.empty() || r.free(id, expected_time(c.task)));
  });
}

lease schedule::give(node& n, waiting_task c, clock::time_point now) {
  const lease given{.id = c.task.id, .number = ++last_lease_, .attempt = c.attempt};
  n.leases.push_back({given, std::move(c), now});
  ++leased_;
  return given;
}

// One batch; what is to go alone is a batch of its own, and finds the node empty.
std::vector<lease> schedule::fill(node_id id, std::size_t most, const round& r) {
  auto& n = nodes_.at(id);
  if (r.kept.contains(id))
    most = 1;
  std::vector<lease> given;
  while (given.size() < most) {
    const auto next = next_for(id, r);
    if (next == queue_.end() || (next->task.alone && !n.leases.empty()))
      break;
    const bool alone = next->task.alone;
    given.push_back(give(n, queue_.extract(next).value(), r.now));
    if (alone)
      break;
  }
  return given;
}

std::vector<handout> schedule::hand_out(clock::time_point now) {
  leave_silent_teams(now);
  if (queue_.empty() && !has_gangs_)
    return {};
  auto r = begin_round(now);
  std::vector<handout> result;
  fill_teams(r, result);
  if (queue_.empty())
    return result;
  hand_out_gangs(r, result);
  const std::size_t most = batch_size();
  // Short batches leave a node idle for the way of a message, so a second one waits
  // there.
  const std::size_t room = most > 1 ? 2 * most : 1;
  // The tasks that are left are shared evenly, so that all nodes end together.
  const auto takers = static_cast<std::size_t>(
      std::ranges::count_if(nodes_, [&](const auto& n) { return takes(n.second, now); }));
  const auto fair = [&] { return (queue_.size() + takers - 1) / takers; };
  bool more = true;
  while (more && !queue_.empty()) {
    more = false;
    for (auto& [id, n] : nodes_) {
      const bool alone_there = !n.leases.empty() && n.leases.front().given.task.alone;
      const bool kept_busy = !n.leases.empty() && r.kept.contains(id);
      if (queue_.empty() || alone_there || kept_busy || !takes(n, now)
          || r.taken.contains(id) || n.leases.size() + (most > 1 ? most : 1) > room)
        continue;
      auto leases = fill(id, std::min(most, fair()), r);
      if (leases.empty())
        continue;
      result.push_back({.node = id, .leases = std::move(leases)});
      more = most > 1;
    }
  }
  return result;
}

std::vector<task> schedule::too_large() {
  std::vector<task> result;
  std::erase_if(queue_, [&](const waiting_task& c) {
    std::optional<std::uint64_t> least;
    for (const auto& [id, n] : nodes_) {
      if (!n.ready || !has_device(n.offer, c.task))
        continue;
      if (c.task.needs.memory_bytes == 0 || fits(n.offer, c))
        return false;
      least = std::min(least.value_or(std::numeric_limits<std::uint64_t>::max()),
                       need(n.offer, c.task));
    }
    if (least) {
      result.push_back(c.task);
      result.back().needs.memory_bytes = *least;
    }
    return least.has_value();
  });
  return result;
}

std::vector<node_id> schedule::drop(const task_id& id) {
  std::erase_if(queue_, [&](const auto& c) { return c.task.id == id; });
  const auto had = members_of(id);
  for (const auto node : had)
    leased_ -= std::erase_if(nodes_.at(node).leases,
                             [&](const auto& l) { return l.lease.id == id; });
  return had;
}

std::uint32_t schedule::accept(node_id node, const task_id& id, std::uint64_t lease,
                               double seconds, std::uint64_t peak_bytes) {
  const auto is_it = [&](const auto& l) {
    return l.lease.id == id && l.lease.number == lease;
  };
  auto found = nodes_.find(node);
  if (found == nodes_.end())
    return 0;
  if (std::ranges::none_of(found->second.leases, is_it)) {
    const auto members = has_gangs_ ? members_of(id) : std::vector<node_id>();
    if (std::ranges::find(members, node) == members.end())
      return 0;
    found = nodes_.find(members.front());
  }
  auto& leases = found->second.leases;
  const auto held = std::ranges::find_if(leases, is_it);
  if (held == leases.end())
    return 0;
  const auto attempt = held->lease.attempt;
  if (found->second.offer.measured && peak_bytes > 0
      && held->given.task.needs.memory_bytes > 0)
    memory_.observe(held->given.task.needs.memory_bytes, peak_bytes);
  const auto done = held->given.task;
  acquit_team(*held);
  leases.erase(held);
  --leased_;
  quarantine_.succeed(found->second.offer.slot);
  if (std::isfinite(seconds) && seconds >= 0) {
    remember(mean_seconds_, seconds);
    if (done.work > 0)
      remember(seconds_per_work_, seconds * std::max(1U, done.needs.slots) / done.work);
  }
  return attempt;
}

std::size_t schedule::busy() const {
  const auto resting = held();
  return static_cast<std::size_t>(std::ranges::count_if(nodes_, [&](const auto& n) {
    return !n.second.leases.empty() || resting.contains(n.first);
  }));
}

std::vector<lease> schedule::leases_of(node_id node) const {
  std::vector<lease> result;
  if (auto found = nodes_.find(node); found != nodes_.end())
    for (const auto& l : found->second.leases)
      result.push_back(l.lease);
  return result;
}

schedule::clock::time_point schedule::heard(node_id node) const {
  const auto found = nodes_.find(node);
  return found == nodes_.end() ? clock::time_point{} : found->second.heard;
}

} // namespace clade
