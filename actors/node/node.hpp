#pragma once

#include "actors/messages/protocol.hpp"
#include "actors/node/evaluator.hpp"
#include "actors/node/node_end.hpp"
#include "actors/node/node_work.hpp"
#include "actors/node/trainer.hpp"

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace clade {

struct node_params {
  std::string slot;               ///< "cpu:0"
  std::string device;             ///< "cpu", "cuda:0"
  std::string label;              ///< The device, for people: "NVIDIA H200 GPU-8932f937".
  std::uint64_t memory_bytes = 0; ///< That a candidate may take there; 0: not known.
  std::uint64_t worker = 0;
  std::uint64_t session = 0; ///< The worker's number for this process; 0: one is drawn.
  std::vector<former_process> former;      ///< They mean the same as in `node_hello`.
  std::chrono::milliseconds grace{30'000}; ///< For what is in training when it drains.
  std::function<void()> pulse;             ///< Called each second, if set.
  std::function<void()> joined = {}; ///< Called when a run has first taken it, if set.
  /// Opens the door for members of teams; `open`: to other machines too. None: this node
  /// takes part in no team.
  std::function<expected<std::shared_ptr<team_entrance>>(bool open)> open_to_teams;
  program_places programs{}; ///< For those that evaluate.
  /// The address of this machine, for members on others; it means the same as in
  /// `team_address`.
  std::string address;
};

/// One device slot. It lives as long as its process, keeps a trainer and an evaluator for
/// life, which do its tasks by their type, and outlives its connections: what is at work
/// goes on, and what is finished is kept until a head has taken it, be it the next one.
struct node_state {
  struct held {
    /// The number that trainer and evaluator know it by: heads count leases anew, each
    /// from 1.
    std::uint64_t given = 0;
    std::uint64_t lease = 0;           ///< The one that holds.
    std::shared_ptr<node_team> team{}; ///< The team, if it is a team's task.
    std::optional<result> done;
  };

  node_actor::stateful_pointer<node_state> self = nullptr;
  node_params params;
  std::shared_ptr<node_work> work = std::make_shared<node_work>();
  trainer_actor trainer;
  evaluator_actor evaluator;
  caf::actor ended;
  link_actor link; ///< The present connection, if any.
  std::uint64_t session = 0;
  std::uint64_t id = 0;
  std::uint64_t run = 0;
  std::map<task_id, held> has;
  /// The formations of teams for tasks that are not here yet.
  std::map<task_id, team_formed> early;
  std::uint64_t last_given = 0;
  std::optional<node_ready> prepared; ///< Set once the trainer said so.
  bool draining = false;
  bool may_leave = false; ///< The head knows that this node drains.
  bool ending = false;
  std::optional<task_id> stuck; ///< The training that does not end.

  node_hello hello();
  void welcome(const node_welcome& message, const link_actor& by);
  void assign(const assignments& message);
  void form(const team_formed& message);
  void keep(const results& message);
  void forget(const taken& message);
  void ready(const node_ready& message);
  void start_draining();
  void give_up_rest();
  void look_at_clock();
  void end_if_idle();
  void end(node_end why, std::string words);

private:
  void drop(const task_id& id);
  void tell_prepared();
  void tell_of_team();
  void send_done();
};

/// A node sends each task to one of these.
struct node_executors {
  trainer_actor trainer;
  evaluator_actor evaluator;
};

/// Spawns a trainer and an evaluator, each in a thread of its own, as both block.
node_executors spawn_executors(node_actor::stateful_pointer<node_state> node);

using make_executors =
    std::function<node_executors(node_actor::stateful_pointer<node_state> node)>;

/// `ended` gets the end as a pair (node_end as int, words) before the actor quits.
/// `executors` makes what does the tasks.
node_actor::behavior_type node_behavior(node_actor::stateful_pointer<node_state> self,
                                        node_params params, caf::actor ended,
                                        const make_executors& executors);

} // namespace clade
