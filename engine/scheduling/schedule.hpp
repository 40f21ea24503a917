#pragma once

#include "engine/scheduling/memory_forecast.hpp"
#include "engine/scheduling/quarantine.hpp"
#include "engine/scheduling/task.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace clade {

/// How tasks are handed out.
struct schedule_params {
  /// A node that was not heard for so long is lost, and what it had is tried elsewhere;
  /// one that comes back sooner goes on with it. It sends a heartbeat each second.
  std::chrono::milliseconds lease{30'000};
  /// The same for a node whose connection was closed: it comes back at once, or its
  /// process is dead.
  std::chrono::milliseconds closed_lease{3'000};
  /// A node that was not heard for so long gets nothing new.
  std::chrono::milliseconds quiet{3'000};
  /// A batch is as many tasks as take about so long, so that messages cost little beside
  /// short evaluations; whatever takes longer travels alone.
  std::chrono::milliseconds batch_time{20};
  std::size_t max_batch = 64;
  /// A task that was alone on a node process that died of it (`schedule::leave`) is tried
  /// again until so many have.
  std::uint32_t deadly_tries = 2;
  quarantine_params quarantine;
};

/// One node process; a restarted one is another.
using node_id = std::uint64_t;

/// The work that a node is to do; the lease is part of the answer, so that a late one is
/// known.
struct lease {
  task_id id;
  std::uint64_t number = 0;
  std::uint32_t attempt = 1;

  friend bool operator==(const lease&, const lease&) = default;
};

struct handout {
  node_id node = 0;
  std::vector<lease> leases;

  friend bool operator==(const handout&, const handout&) = default;
};

/// A task whose node was lost while it had it.
struct lost_lease {
  task_id id;
  std::uint32_t attempt = 1;
  bool given_up = false; ///< Its own fault: it is not handed out again.

  friend bool operator==(const lost_lease&, const lost_lease&) = default;
};

/// The nodes that do a task together now (task_needs::team). The first answers for it;
/// all of them have its lease.
struct formed_team {
  lease given;
  std::uint32_t slots = 1; ///< The same as in task_needs.
  std::vector<node_id> members;

  friend bool operator==(const formed_team&, const formed_team&) = default;
};

/// The resources that a node offers.
struct offer {
  std::string slot;               ///< Stays the same when its process is another.
  std::uint64_t memory_bytes = 0; ///< 0: not known, taken for enough.
  /// Whether the memory that tasks take is measured there. A device of its own memory
  /// measures nothing, and what others measured tells nothing of it: an estimate counts
  /// as it is.
  bool measured = true;
  std::string device{};      ///< Its kind: "cuda", "cpu".
  std::uint64_t machine = 0; ///< Slots of one machine can do a gang's task together.
};

/// A schedule of who does what: tasks that wait, the longest first (but `task::first`); nodes with
/// their leases. Pure: it is told the time. For each task exactly one result is accepted,
/// that of its present lease.
///
/// A gang (task_needs::slots) gets its slots together. If too few are free, slots of the
/// machine on which it can begin first are kept for it: of the gangs that wait, the first
/// for each machine, so that no two wait for each other. Meanwhile these slots do only
/// what is expected to end before it begins (EASY backfilling; Lifka, "The ANL/IBM SP
/// Scheduling System", 1995).
///
/// A team gets its slots in the same way, though on several machines where no single one
/// has enough. A member that is lost, closed, silent or retired leaves it at once, and the
/// others go on; the next free node takes its place. A task is lost with its last member.
///
/// A node has one batch in work and, where batches are short, a second one waiting. When
/// a node is lost with several tasks, none of them is to blame: each is handed out again,
/// alone. One that was alone is to blame only where the process itself shows it. A task
/// whose node was lost goes to another slot than that, if there is one. A slot on which
/// several tasks in a row were lost gets none for a while.
class schedule {
public:
  using clock = std::chrono::steady_clock;

  explicit schedule(const schedule_params& params = {})
      : params_(params),
        quarantine_(params.quarantine) {}

  void submit(const task& t);

  /// Takes back everything that no node has.
  [[nodiscard]] std::vector<task_id> withdraw();

  /// It is heard, and comes, or comes back; `ready`: it may be given something.
  void join(node_id node, const offer& o, clock::time_point now, bool ready = true);
  void enable(node_id node);

  /// The node is gone, and dead; what it had waits again, or is given up.
  /// `own_doing`: its process ended by what it did itself, so that a task which it had
  /// alone is to blame. Silence, or a signal from elsewhere, is nobody's fault.
  [[nodiscard]] std::vector<lost_lease> leave(node_id node, clock::time_point now,
                                              bool own_doing = false);

  /// It becomes known only now that the process of a node that left without blame had
  /// ended by its own doing. Returns its task if that waits and is given up.
  [[nodiscard]] std::optional<lost_lease> convict(node_id node);

  /// The node is there: renews its leases.
  void hear(node_id node, clock::time_point now);

  /// Its connection was closed: it gets nothing, and unless it is heard again, it is lost
  /// soon.
  void close(node_id node, clock::time_point now);

  /// Nodes whose leases have ended; the caller lets them `leave`.
  [[nodiscard]] std::vector<node_id> silent(clock::time_point now) const;

  /// A node that came back names what it has. A task that it should have and has not, it
  /// never got: that waits again. Returns which of its leases do not hold.
  [[nodiscard]] std::vector<lease> reconcile(node_id node, const std::vector<lease>& has);

  /// A node that had this task from an earlier head: if it waits, the node gets it.
  [[nodiscard]] std::optional<lease> adopt(node_id node, const task_id& id);

  /// The node gets nothing more, and what it names it will not do.
  void retire(node_id node, const std::vector<task_id>& not_done);

  /// A node says that its machine cannot do the task of a lease now, whatever the task is:
  /// its slot gets nothing for a while. A team goes on without it (`members_of`); what no
  /// other has waits again. Returns nothing where the lease does not hold.
  [[nodiscard]] std::optional<lost_lease> decline(node_id node, const lease& what,
                                                  clock::time_point now);

  /// Nobody wants this task done any more; returns the nodes that have it.
  std::vector<node_id> drop(const task_id& id);

  /// Returns the leases to send now, with their receivers; empty if nothing waits or
  /// nobody is free. A lease of a team goes to each of its members, as they come.
  [[nodiscard]] std::vector<handout> hand_out(clock::time_point now);

  /// Who does what together.
  [[nodiscard]] std::vector<formed_team> teams() const;
  /// The parts that a team does this task in, as many as the slots it takes; 0: a node does
  /// it whole, or has it no more.
  [[nodiscard]] std::uint32_t shares_of(const task_id& id) const;
  /// The nodes that have this task.
  [[nodiscard]] std::vector<node_id> members_of(const task_id& id) const;

  /// Takes from the queue what is too large for every slot that is there and has the
  /// device for it, with the least memory that it would need on one. A task that finds no
  /// such slot waits for one to come.
  [[nodiscard]] std::vector<task> too_large();

  /// Takes the result of a lease that holds, and returns which attempt it was; 0 if the
  /// lease has ended (the result is to be ignored). `seconds`: what it took, negative
  /// where that tells nothing of the next ones; `peak_bytes`: the memory, 0 where nobody
  /// measured.
  [[nodiscard]] std::uint32_t accept(node_id node, const task_id& id, std::uint64_t lease,
                                     double seconds, std::uint64_t peak_bytes = 0);

  [[nodiscard]] std::size_t waiting() const { return queue_.size(); }
  [[nodiscard]] std::size_t leased() const { return leased_; }
  [[nodiscard]] std::size_t nodes() const { return nodes_.size(); }
  [[nodiscard]] bool retired(node_id node) const;
  [[nodiscard]] std::size_t busy() const;

  /// Nodes that rest for a gang, each with the node that does its task.
  [[nodiscard]] std::map<node_id, node_id> held() const;

  /// Returns the leases that the node has, in the order in which it will do them.
  [[nodiscard]] std::vector<lease> leases_of(node_id node) const;

  /// When it was heard last.
  [[nodiscard]] clock::time_point heard(node_id node) const;

  /// Until when the slot gets nothing, if it was quarantined.
  [[nodiscard]] std::optional<clock::time_point>
  quarantined(const std::string& slot, clock::time_point now) const {
    return quarantine_.until(slot, now);
  }

private:
  struct waiting_task {
    clade::task task;
    std::uint32_t attempt = 1;
    std::uint32_t deaths = 0; ///< The deaths of processes, by its doing.
    std::string lost_on;      ///< The slot that lost it last.
    std::string died_on;      ///< The slot whose process last died of it.

    friend bool operator<(const waiting_task& a, const waiting_task& b) {
      if (a.task.first != b.task.first)
        return a.task.first;
      return a.task.work != b.task.work ? a.task.work > b.task.work
                                        : a.task.id < b.task.id;
    }
  };
  struct leased_task {
    clade::lease lease;
    waiting_task given;
    clock::time_point since{};
    std::vector<node_id> others{}; ///< The other nodes of a gang.
  };
  /// A loss of a task that was alone on its node and is not blamed.
  struct lone_loss {
    clade::lease lease;
    std::string slot;
  };
  struct node {
    clade::offer offer;
    std::vector<leased_task> leases;
    clock::time_point ends; ///< Unless it is heard.
    clock::time_point heard;
    bool ready = false;
    bool closed = false;
    bool retired = false;
  };

  /// The findings of a handing out so far; empty if there are no gangs.
  struct round {
    clock::time_point now;
    std::set<node_id> taken{}; ///< By gangs, before or in this round.
    /// Nodes that are kept for a gang, and when it can begin; until then they may do
    /// what is shorter.
    std::map<node_id, clock::time_point> kept{};
    /// The expected ends of the work of nodes.
    std::map<node_id, clock::time_point> ends{};
    std::map<std::uint64_t, std::vector<node_id>> idle{}; ///< By machine.

    [[nodiscard]] bool free(node_id id, std::optional<clock::duration> takes) const;
    void take(node_id id, std::uint64_t machine, clock::duration takes);
  };

  [[nodiscard]] std::size_t batch_size() const;
  [[nodiscard]] bool takes(const node& n, clock::time_point now) const;
  [[nodiscard]] std::uint64_t need(const offer& o, const task& t) const;
  [[nodiscard]] static bool has_device(const offer& o, const task& t);
  [[nodiscard]] bool fits(const offer& o, const waiting_task& c) const;
  [[nodiscard]] bool other_slot(const std::string& slot, clock::time_point now) const;
  [[nodiscard]] std::set<waiting_task>::iterator next_for(node_id id, const round& r);
  [[nodiscard]] std::vector<lease> fill(node_id id, std::size_t most, const round& r);
  lease give(node& n, waiting_task c, clock::time_point now);
  void hold_others(node_id leader);
  [[nodiscard]] bool in_team(node_id id, const lease& l) const;
  [[nodiscard]] bool leave_teams(node_id id);
  void acquit_team(const leased_task& done);
  void leave_silent_teams(clock::time_point now);
  [[nodiscard]] std::vector<lost_lease> blame_team(node_id id, const std::string& slot);
  void fill_teams(round& r, std::vector<handout>& result);
  bool blame(waiting_task& c, const std::string& slot);
  /// Nothing as long as nothing was measured.
  [[nodiscard]] std::optional<clock::duration> expected_time(const task& t) const;
  [[nodiscard]] round begin_round(clock::time_point now) const;
  void hand_out_gangs(round& r, std::vector<handout>& result);
  [[nodiscard]] std::vector<node_id> members_for(const waiting_task& c,
                                                 const round& r) const;
  void keep_for(const waiting_task& c, round& r,
                std::set<std::uint64_t>& machines_waited_for) const;

  schedule_params params_;
  clade::quarantine quarantine_;
  memory_forecast memory_; ///< The forecast for slots on which memory is measured.
  std::set<waiting_task> queue_;
  std::map<node_id, node> nodes_;
  std::map<node_id, lone_loss> lone_losses_; ///< The losses of the latest nodes.
  std::map<node_id, task_id> left_teams_;    ///< The latest that left, and whose team.
  bool has_gangs_ = false;                   ///< One was submitted.
  std::size_t leased_ = 0;
  std::uint64_t last_lease_ = 0;
  double mean_seconds_ = -1;     ///< Exponential mean; negative: nothing measured yet.
  double seconds_per_work_ = -1; ///< The same, of one slot.
};

} // namespace clade
