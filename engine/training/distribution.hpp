#pragma once

#include "genome/error.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace clade {

/// How one training is divided over several slots.
enum class distribution_kind : std::uint8_t {
  one_device,
  mirrored,
  multi_worker_mirrored,
  central_storage,
  local_sgd,
  parameter_server,
  peer_to_peer
};

/// When gradients change parameters that servers or peers hold.
enum class update_rule : std::uint8_t {
  automatic,    ///< Synchronous with servers, asynchronous among peers.
  synchronous,  ///< A step takes the gradients of all workers.
  asynchronous, ///< Each gradient as it comes.
  bounded,      ///< The same, but no worker gets too far ahead of the slowest.
  backup        ///< A step takes the first gradients; the last are dropped.
};

/// A way to divide a training, and what the reference says of it.
struct distribution_row {
  distribution_kind kind;
  std::string_view name;
  std::string_view known_as;
  std::string_view what;
  std::string_view replication; ///< By the two meanings that these words have.
  std::string_view moved;       ///< Bytes a step; k: devices, n: the parameters' bytes.
  std::string_view memory;      ///< Of all devices together.
  std::string_view slowed_by;
  std::string_view when;
  /// Replicas take equal steps, so that k devices with a batch b are one with k * b.
  bool synchronous = true;
  /// Each slot has a process of its own, which may be on another machine, and together
  /// they are a team. Otherwise the process of one slot does it on threads, for all.
  bool by_team = false;
};

[[nodiscard]] std::span<const distribution_row> distribution_rows();

/// Null for a name that is not in the table.
[[nodiscard]] const distribution_row* find_distribution(std::string_view name);

/// `[training]`: what decides how each training is divided.
struct distribution_params {
  std::string name = "one_device";
  std::uint32_t devices = 1; ///< Slots that a training takes.
  /// Of those slots, these serve parameters only and the others compute gradients only;
  /// 0 of both: each does both, where there is anything to serve.
  std::uint32_t servers = 0, workers = 0;
  /// The learning rate grows with the batch that all devices make together.
  bool scale_learning_rate = true;
  std::uint32_t average_every = 8; ///< Steps between averages; local_sgd's.
  /// The rest is of servers and peers.
  update_rule updates = update_rule::automatic;
  std::uint32_t staleness = 4;      ///< Steps that a worker may be ahead; bounded's.
  std::uint32_t backup_workers = 1; ///< Gradients that a step does without; backup's.

  [[nodiscard]] distribution_kind kind() const { return find_distribution(name)->kind; }
  /// Those that compute gradients, each of a share of each batch.
  [[nodiscard]] std::uint32_t shares() const { return workers == 0 ? devices : workers; }
  /// What `updates` means for this distribution; never `automatic`.
  [[nodiscard]] update_rule rule() const;
  /// As in `distribution_row`, with these updates.
  [[nodiscard]] bool synchronous() const;
  [[nodiscard]] bool by_team() const {
    return devices > 1 && find_distribution(name)->by_team;
  }
};

/// More replicas than so many are refused: what they make together is a batch that no
/// learning rate serves.
inline constexpr std::uint32_t most_devices = 64;

/// Says what cannot be, and what would fit; `kind()` is for what is valid.
[[nodiscard]] expected<void> validate(const distribution_params& params);

} // namespace clade
