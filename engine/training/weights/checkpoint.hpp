#pragma once

#include "engine/search/core/candidate.hpp"
#include "engine/training/weights/weights.hpp"

#include <optional>

namespace clade {

/// The position of a training after its last epoch: all that it needs to go on as if it
/// had never stopped.
struct training_position {
  /// The candidate whose streams it draws from: the one with which the training began.
  candidate_id key = 0;
  std::uint32_t epochs = 0;           ///< Behind it.
  std::vector<weight_tensor> weights; ///< The weights of the last epoch.
  std::vector<metric> best;           ///< Metrics of the epoch that counts so far.
  double lowest_loss = 0;             ///< The lowest validation.loss, for patience,
  std::uint32_t since_lowest = 0;     ///< and the epochs since then.
  std::string optimiser;              ///< "sgd", "adam", "adamw", "muon"
  std::uint64_t steps = 0;            ///< The optimiser's.
  std::vector<weight_tensor> moments; ///< Its state, in its own order.
  /// The average of the weights; empty if there is none.
  std::vector<weight_tensor> average;
  /// The states of the generators in the network (dropout's), in the order of layers.
  /// They are the kind of device's own.
  std::vector<bytes> generators;

  friend bool operator==(const training_position&, const training_position&) = default;
};

void encode(encoder& out, const training_position& p);
/// Total, as all decoders.
[[nodiscard]] training_position decode_position(decoder& in);

/// The parts of a training that are left for those that start from it. A candidate whose
/// network is another takes over weights; one that goes on with the training wants
/// `position` too.
struct checkpoint {
  clade::genome genome;               ///< The genome of the network that was trained.
  std::vector<weight_tensor> weights; ///< The weights of the epoch that counts.
  std::optional<training_position> position;

  friend bool operator==(const checkpoint&, const checkpoint&) = default;
};

/// The stored form, with a checksum (grammar at the top of checkpoint.cpp).
[[nodiscard]] bytes encode_checkpoint(const checkpoint& c);

/// Total: any bytes give the checkpoint that was encoded, or an error of kind corrupt.
[[nodiscard]] expected<checkpoint> decode_checkpoint(std::span<const char> data);

} // namespace clade
