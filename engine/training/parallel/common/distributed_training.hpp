#pragma once

#include "engine/collectives/team.hpp"
#include "engine/training/asked/distribution.hpp"
#include "engine/training/loop/training_steps.hpp"

#include <algorithm>
#include <array>

namespace clade {

/// Other networks that share each batch with the first.
struct replica_team {
  /// Copies of the first network, whose layers draw from streams of their own.
  std::vector<std::unique_ptr<network_module>> others;
  /// Called in each thread that works for them, before it does.
  std::function<void()> prepare_thread;
};

/// The parts that the steps of a training over several slots are made from.
struct distributed_training {
  network_module& net;
  const step_rules& rules;
  const distribution_params& how;
  /// The team of this member, if the row of the distribution says `by_team`.
  team* members = nullptr;
  /// A network for each other slot, if it does not.
  replica_team* replicas = nullptr;
  handed_over state{};
  /// The decisions of timing in the training that is made again, if one is
  /// (updates_log.hpp); damaged ones throw.
  const bytes& updates;
};

/// On threads of this process.
[[nodiscard]] training_parts make_mirrored_steps(distributed_training t);
[[nodiscard]] training_parts make_central_steps(distributed_training t);
/// Members of a team that have the whole network and take each step together, or average
/// it now and then.
[[nodiscard]] training_parts make_team_steps(distributed_training t);
[[nodiscard]] training_parts make_local_steps(distributed_training t);
/// Members that have parts of the network's state.
[[nodiscard]] training_parts make_sharded_steps(distributed_training t);
[[nodiscard]] training_parts make_pipeline_steps(distributed_training t);
/// Servers and peers.
[[nodiscard]] training_parts make_exchanging_steps(distributed_training t);

/// Makes the steps of the distribution of that name.
struct steps_row {
  std::string_view name;
  training_parts (*make)(distributed_training t);
};

inline constexpr std::array distributed_steps{
    steps_row{"mirrored", make_mirrored_steps},
    steps_row{"central_storage", make_central_steps},
    steps_row{"multi_worker_mirrored", make_team_steps},
    steps_row{"local_sgd", make_local_steps},
    steps_row{"sharded", make_sharded_steps},
    steps_row{"pipeline", make_pipeline_steps},
    steps_row{"parameter_server", make_exchanging_steps},
    steps_row{"peer_to_peer", make_exchanging_steps},
};

} // namespace clade
