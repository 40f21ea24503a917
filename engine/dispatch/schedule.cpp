#include "engine/dispatch/schedule.hpp"

#include <algorithm>
#include <cmath>

namespace clade {

namespace {

// Weight of the newest evaluation in the mean: some fifty evaluations are remembered.
constexpr double newest_share = 0.02;

} // namespace

void schedule::submit(candidate_id id, double work) {
  queue_.insert({.work = std::isfinite(work) ? work : 0.0, .id = id});
}

std::vector<candidate_id> schedule::withdraw() {
  std::vector<candidate_id> result;
  for (const auto& c : queue_)
    result.push_back(c.id);
  queue_.clear();
  return result;
}

void schedule::join(node_id node, clock::time_point now) {
  nodes_[node].heard = now;
}

std::vector<lost_lease> schedule::leave(node_id id) {
  auto found = nodes_.find(id);
  if (found == nodes_.end())
    return {};
  auto leases = std::move(found->second.leases);
  nodes_.erase(found);
  leased_ -= leases.size();
  const bool to_blame = leases.size() == 1;
  std::vector<lost_lease> result;
  for (auto& [lease, candidate] : leases) {
    candidate.deaths += to_blame ? 1 : 0;
    candidate.alone = true;
    candidate.attempt += 1;
    const bool given_up = candidate.deaths >= params_.deadly_tries;
    result.push_back({.id = lease.id, .attempt = lease.attempt, .given_up = given_up});
    if (!given_up)
      queue_.insert(candidate);
  }
  return result;
}

void schedule::hear(node_id node, clock::time_point now) {
  if (auto found = nodes_.find(node); found != nodes_.end())
    found->second.heard = now;
}

std::vector<node_id> schedule::silent(clock::time_point now) const {
  std::vector<node_id> result;
  for (const auto& [id, n] : nodes_)
    if (now - n.heard > params_.lease)
      result.push_back(id);
  return result;
}

std::size_t schedule::batch_size() const {
  if (mean_seconds_ < 0)
    return 1;
  const double fits = std::chrono::duration<double>(params_.batch_time).count()
                      / std::max(mean_seconds_, 1e-9);
  return std::clamp<std::size_t>(static_cast<std::size_t>(std::min(fits, 1e9)), 1,
                                 params_.max_batch);
}

std::vector<handout> schedule::hand_out() {
  const std::size_t most = batch_size();
  // Short batches leave a node idle for the way of a message, so a second one waits
  // there.
  const std::size_t room = most > 1 ? 2 * most : 1;
  // What is left is shared evenly, so that all nodes end together.
  const auto fair = [&] { return (queue_.size() + nodes_.size() - 1) / nodes_.size(); };
  std::vector<handout> result;
  bool more = true;
  while (more && !queue_.empty()) {
    more = false;
    for (auto& [id, n] : nodes_) {
      const bool alone_there = !n.leases.empty() && n.leases.front().candidate.alone;
      if (queue_.empty() || alone_there || n.leases.size() + (most > 1 ? most : 1) > room)
        continue;
      if (queue_.begin()->alone && !n.leases.empty())
        continue;
      handout out{.node = id, .leases = {}};
      const std::size_t size = queue_.begin()->alone ? 1 : std::min(most, fair());
      while (out.leases.size() < size && !queue_.empty()) {
        if (queue_.begin()->alone && !out.leases.empty())
          break;
        auto candidate = queue_.extract(queue_.begin()).value();
        lease given{
            .id = candidate.id, .number = ++last_lease_, .attempt = candidate.attempt};
        n.leases.push_back({given, candidate});
        out.leases.push_back(given);
      }
      leased_ += out.leases.size();
      result.push_back(std::move(out));
      more = most > 1;
    }
  }
  return result;
}

std::uint32_t schedule::accept(node_id node, candidate_id id, std::uint64_t lease,
                               double seconds) {
  auto found = nodes_.find(node);
  if (found == nodes_.end())
    return 0;
  auto& leases = found->second.leases;
  auto held = std::ranges::find_if(
      leases, [&](const auto& l) { return l.lease.id == id && l.lease.number == lease; });
  if (held == leases.end())
    return 0;
  const auto attempt = held->lease.attempt;
  leases.erase(held);
  --leased_;
  if (std::isfinite(seconds) && seconds >= 0)
    mean_seconds_ = mean_seconds_ < 0
                        ? seconds
                        : mean_seconds_ + newest_share * (seconds - mean_seconds_);
  return attempt;
}

std::size_t schedule::busy() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      nodes_, [](const auto& n) { return !n.second.leases.empty(); }));
}

std::vector<lease> schedule::leases_of(node_id node) const {
  std::vector<lease> result;
  if (auto found = nodes_.find(node); found != nodes_.end())
    for (const auto& l : found->second.leases)
      result.push_back(l.lease);
  return result;
}

} // namespace clade
