#pragma once

#include "engine/evolution/candidate.hpp"

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace clade {

/// How candidates are handed out.
struct schedule_params {
  /// A node that was not heard for so long is lost; it sends a heartbeat each second.
  std::chrono::milliseconds lease{10'000};
  /// A batch is as many candidates as take about so long, so that messages cost little
  /// beside short evaluations; whatever takes longer travels alone.
  std::chrono::milliseconds batch_time{20};
  std::size_t max_batch = 64;
  /// A candidate that was alone on a node process when it died is tried again until so
  /// many processes have died of it.
  std::uint32_t deadly_tries = 2;
};

/// One node process; a restarted one is another.
using node_id = std::uint64_t;

/// What a node is to do; the lease is part of the answer, so that a late one is known.
struct lease {
  candidate_id id = 0;
  std::uint64_t number = 0;
  std::uint32_t attempt = 1;

  friend bool operator==(const lease&, const lease&) = default;
};

struct handout {
  node_id node = 0;
  std::vector<lease> leases;

  friend bool operator==(const handout&, const handout&) = default;
};

/// A candidate whose node was lost while it had it.
struct lost_lease {
  candidate_id id = 0;
  std::uint32_t attempt = 1;
  bool given_up = false; ///< Its own fault: it is not handed out again.

  friend bool operator==(const lost_lease&, const lost_lease&) = default;
};

/// Who trains what: candidates that wait, the longest first; nodes with their leases.
/// Pure: it is told the time. For each candidate exactly one result is accepted, that of
/// its present lease.
///
/// A node has one batch in work and, where batches are short, a second one waiting. When
/// a node is lost with several candidates, none of them is to blame: each is handed out
/// again, alone.
class schedule {
public:
  using clock = std::chrono::steady_clock;

  explicit schedule(const schedule_params& params = {}) : params_(params) {}

  void submit(candidate_id id, double work);

  /// Takes back everything that no node has.
  [[nodiscard]] std::vector<candidate_id> withdraw();

  void join(node_id node, clock::time_point now);

  /// The node is gone; what it had waits again, or is given up.
  [[nodiscard]] std::vector<lost_lease> leave(node_id node);

  /// The node is there: renews its leases.
  void hear(node_id node, clock::time_point now);

  /// Nodes not heard since the lease time; the caller lets them `leave`.
  [[nodiscard]] std::vector<node_id> silent(clock::time_point now) const;

  /// What to send now, to whom; empty where nothing waits or nobody is free.
  [[nodiscard]] std::vector<handout> hand_out();

  /// Takes the result of a lease that holds, and returns which attempt it was; 0 if the
  /// lease has ended (the result is to be ignored). `seconds`: what it took.
  [[nodiscard]] std::uint32_t accept(node_id node, candidate_id id, std::uint64_t lease,
                                     double seconds);

  [[nodiscard]] std::size_t waiting() const { return queue_.size(); }
  [[nodiscard]] std::size_t leased() const { return leased_; }
  [[nodiscard]] std::size_t nodes() const { return nodes_.size(); }
  [[nodiscard]] std::size_t busy() const;

  /// What the node has, in the order in which it will do it.
  [[nodiscard]] std::vector<lease> leases_of(node_id node) const;

private:
  struct waiting_candidate {
    double work = 0;
    candidate_id id = 0;
    std::uint32_t attempt = 1;
    std::uint32_t deaths = 0;
    bool alone = false;

    friend bool operator<(const waiting_candidate& a, const waiting_candidate& b) {
      return a.work != b.work ? a.work > b.work : a.id < b.id;
    }
  };
  struct leased_candidate {
    clade::lease lease;
    waiting_candidate candidate;
  };
  struct node {
    std::vector<leased_candidate> leases;
    clock::time_point heard;
  };

  [[nodiscard]] std::size_t batch_size() const;

  schedule_params params_;
  std::set<waiting_candidate> queue_;
  std::map<node_id, node> nodes_;
  std::size_t leased_ = 0;
  std::uint64_t last_lease_ = 0;
  double mean_seconds_ = -1; ///< Exponential mean; negative: nothing measured yet.
};

} // namespace clade
