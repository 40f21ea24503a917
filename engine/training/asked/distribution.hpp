#pragma once

#include "genome/base/error.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace clade {

/// The holders of the parameters to which the members of a team send gradients, each at its
/// own pace.
enum class gradient_receivers : std::uint8_t {
  none,    ///< Members make each exchange together.
  servers, ///< A shard each.
  peers    ///< A copy each.
};

/// When gradients change parameters that servers or peers hold.
enum class update_rule : std::uint8_t {
  automatic,    ///< Synchronous with servers, asynchronous among peers.
  synchronous,  ///< A step takes the gradients of all workers.
  asynchronous, ///< Each gradient as it comes.
  bounded,      ///< The same, but no worker gets too far ahead of the slowest.
  backup        ///< A step takes the first gradients; the last are dropped.
};

/// The order in which micro-batches go through a pipeline (parallel/stage_plan.hpp).
enum class stage_schedule : std::uint8_t { gpipe, one_forward_one_back };

/// `[training] collectives`: what carries what the members of a team send each other. The
/// order of additions stays the same, and so does every bit of the result.
struct collectives_params {
  /// "tls": connections with the run's keys. "gloo": connections without any, once the
  /// members have met over the former.
  std::string backend = "tls";
  /// Gloo's: the private network, such as "10.1.0.0/16", outside which nothing listens.
  std::string network;

  [[nodiscard]] bool by_gloo() const { return backend == "gloo"; }
  friend bool operator==(const collectives_params&, const collectives_params&) = default;
};

/// A way to divide one training over several slots, and what the reference says of it.
/// Everything that depends on the way, but for the steps themselves, reads it here.
struct distribution_row {
  std::string_view name;
  std::string_view known_as;
  std::string_view what;
  std::string_view replication; ///< By the two meanings that these words have.
  std::string_view moved;       ///< Bytes a step; k: devices, n: the parameters' bytes.
  std::string_view memory;      ///< The memory of all devices together.
  std::string_view slowed_by;
  std::string_view when;
  /// Replicas take equal steps, so that k devices with a batch b are one with k * b.
  bool synchronous = true;
  /// Each device has batches of its own. Otherwise all work at one and the same, of which
  /// each has some of the layers.
  bool data_parallel = true;
  /// The network's state is divided over the devices, which together have one.
  bool divides_state = false;
  /// Each slot has a process of its own, which may be on another machine, and together
  /// they are a team. Otherwise the process of one slot does it on threads, for all.
  bool by_team = false;
  /// The devices may be CUDA's.
  bool on_cuda = false;
  /// A training may have more than one slot.
  bool divides = true;
  /// Devices train alone for `average_every` steps.
  bool averages = false;
  gradient_receivers receivers = gradient_receivers::none;
};

[[nodiscard]] std::span<const distribution_row> distribution_rows();

/// Null for a name that is not in the table.
[[nodiscard]] const distribution_row* find_distribution(std::string_view name);

/// `[training]`: what decides how each training is divided.
struct distribution_params {
  std::string name = "one_device";
  std::uint32_t devices = 1; ///< Slots that a training takes.
  /// devices = "fit": as few slots as a network needs so that its training takes at most
  /// so many bytes on each, by the forecast (fitting.hpp); limits.evaluation_memory. None:
  /// `devices` says how many.
  std::optional<std::uint64_t> fit_bytes{};
  /// The numbers of those slots that serve parameters only and that compute gradients
  /// only; 0 of both: each does both, if there is anything to serve.
  std::uint32_t servers = 0, workers = 0;
  /// The learning rate grows with the batch that all devices make together.
  bool scale_learning_rate = true;
  std::uint32_t average_every = 8; ///< Steps between averages; local_sgd's.
  std::uint32_t micro_batches = 4; ///< The micro-batches of a batch; pipeline's.
  std::string stage_schedule = "1f1b";
  collectives_params collectives{};
  /// The rest is of servers and peers.
  update_rule updates = update_rule::automatic;
  std::uint32_t staleness = 4;      ///< Steps that a worker may be ahead; bounded's.
  std::uint32_t backup_workers = 1; ///< Gradients that a step does without; backup's.

  /// Returns the row of its name, which is valid.
  [[nodiscard]] const distribution_row& row() const { return *find_distribution(name); }
  [[nodiscard]] clade::stage_schedule schedule() const {
    return stage_schedule == "gpipe" ? clade::stage_schedule::gpipe
                                     : clade::stage_schedule::one_forward_one_back;
  }
  /// Returns the number of slots that compute gradients, each of a share of each batch.
  [[nodiscard]] std::uint32_t shares() const { return workers == 0 ? devices : workers; }
  /// Returns the meaning of `updates` for this distribution; never `automatic`.
  [[nodiscard]] update_rule rule() const;
  /// Whether training with these updates is synchronous, as in `distribution_row`.
  [[nodiscard]] bool synchronous() const;
  /// Whether devices that are done wait for those that are not, so that a slow one holds up
  /// the others.
  [[nodiscard]] bool waits_for_all() const {
    const auto r = rule();
    return row().receivers == gradient_receivers::none || r == update_rule::synchronous
           || r == update_rule::bounded;
  }
  /// So many gradients a step takes, of `shares()`; 0: each counts.
  [[nodiscard]] std::uint32_t gradients_taken() const {
    return rule() == update_rule::backup ? shares() - backup_workers : 0;
  }
  /// Whether a training may take several slots.
  [[nodiscard]] bool divided() const { return devices > 1 || fit_bytes; }
  /// Whether a training may be done by a team.
  [[nodiscard]] bool by_team() const { return divided() && row().by_team; }
};

/// More replicas than so many are refused: what they make together is a batch that no
/// learning rate serves.
inline constexpr std::uint32_t most_devices = 64;

/// More micro-batches than so many are refused: nothing idles any more.
inline constexpr std::uint32_t most_micro_batches = 1024;

/// Says what cannot be, and what would fit; `row()` is for what is valid.
[[nodiscard]] expected<void> validate(const distribution_params& params);

} // namespace clade
