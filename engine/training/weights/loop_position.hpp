#pragma once

#include "engine/run/records/record.hpp"
#include "engine/training/weights/checkpoint.hpp"

#include <vector>

namespace clade {

/// The position of a training between two steps: the state that a member of a team needs
/// to go on in the place of another.
struct loop_position {
  training_position training;
  std::vector<weight_tensor> best; ///< Weights of the epoch that counts so far.
  std::uint32_t epoch = 1;         ///< The present one.
  std::uint64_t next_batch = 0;    ///< The first that is not behind it.
  bool assessed = false;           ///< The epoch is over, but for the verdict.
  double total_loss = 0, train_loss = 0;
  std::vector<clade::epoch> curve;
  bytes updates{}; ///< The decisions of timing so far (parallel/updates_log.hpp).

  friend bool operator==(const loop_position&, const loop_position&) = default;
};

/// The form in which it travels (grammar at the top of loop_position.cpp).
[[nodiscard]] bytes encode(const loop_position& p);
/// Total: any bytes give the position that was encoded, or an error of kind corrupt.
[[nodiscard]] expected<loop_position> decode_loop_position(std::span<const char> data);

} // namespace clade
