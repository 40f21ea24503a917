#pragma once

#include "engine/training/parallel/common/updates_log.hpp"

#include <cstddef>
#include <optional>

namespace clade {

/// How members of a team that hold parameters, or compute gradients, exchange these.
struct exchange_rules {
  std::size_t holders = 1;
  std::size_t workers = 1;
  /// Each holder has all parameters, and worker i reads those of holder i alone. Else
  /// each holder has a shard, and workers read all shards.
  bool peers = false;
  /// A holder makes its next version of so many gradients, each from its own present
  /// version; it drops those that come later. 0: each gradient makes a version.
  std::size_t taken = 0;
  /// So many steps a worker may be ahead of the slowest; 0: any number.
  std::size_t staleness = 0;

  [[nodiscard]] bool reads(std::size_t worker, std::size_t holder) const {
    return !peers || worker == holder;
  }
  /// Whether timing decides anything.
  [[nodiscard]] bool timed() const { return taken != workers; }
  [[nodiscard]] std::size_t updates_of(std::size_t steps) const {
    return taken == 0 ? steps * workers : steps;
  }
};

/// A gradient that is to be computed again.
struct planned_gradient {
  std::uint64_t step = 0;
  /// The version of each holder from which it is computed.
  std::vector<std::uint64_t> versions;
};

/// An epoch to be made again, as its log has it.
struct replay_plan {
  /// Parameters that a holder sends: those of this version, to this worker.
  struct delivery {
    std::uint64_t version = 0;
    std::size_t worker = 0;
  };

  epoch_updates updates;
  std::vector<std::vector<planned_gradient>> gradients; ///< The gradients of each worker.
  /// The deliveries of each holder, by version.
  std::vector<std::vector<delivery>> deliveries;
  /// A gradient is needed at most so many steps before another worker's gradient of an
  /// earlier step can be computed.
  std::uint64_t lookahead = 0;
};

/// An error of kind corrupt if no epoch of so many steps can have such a log.
[[nodiscard]] expected<replay_plan>
plan_replay(epoch_updates updates, const exchange_rules& rules, std::uint64_t steps);

} // namespace clade
