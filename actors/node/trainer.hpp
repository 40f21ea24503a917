#pragma once

#include "actors/messages/protocol.hpp"
#include "actors/node/node_work.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

namespace clade {

struct trainer_params {
  std::shared_ptr<node_work> work;
  node_actor node; ///< The node whose trainer it is.
  std::string device;
  /// Opens the door for members of teams, as node_params::open_to_teams says.
  std::function<expected<std::shared_ptr<team_entrance>>(bool open)> open_to_teams{};
  std::string address{};
  program_places programs{};
};

struct trainer_state {
  trainer_params params;
};

/// Prepares the node when it is welcome and says `node_ready`; then trains what is
/// assigned and sends results, those of short evaluations together. Spawn it detached:
/// training blocks.
trainer_actor::behavior_type
trainer_behavior(trainer_actor::stateful_pointer<trainer_state> self,
                 trainer_params params);

/// Encodes what became of a candidate for the way to the dispatcher.
[[nodiscard]] result result_of(evaluated_job done, std::uint64_t lease,
                               std::uint64_t peak_bytes = 0);

/// Returns the job of training a network of a candidate, decoded, without what is to be
/// trained before it.
[[nodiscard]] expected<job> job_of(candidate_id id, const network_training& network);

/// Returns the jobs that are to be trained before another, decoded.
[[nodiscard]] expected<std::vector<job>> jobs_of(const std::vector<ancestor>& before);

} // namespace clade
