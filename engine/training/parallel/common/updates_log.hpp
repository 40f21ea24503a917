#pragma once

#include "genome/codec/codec.hpp"

#include <cstdint>
#include <vector>

namespace clade {

/// A gradient that a holder of parameters (parameter_holder.hpp) took in.
struct applied_gradient {
  std::uint32_t worker = 0;
  /// How many versions of the holder's parameters had come since the one that the worker
  /// computed it from; 0 where the worker read nothing of this holder.
  std::uint32_t staleness = 0;

  friend bool operator==(const applied_gradient&, const applied_gradient&) = default;
};

/// The decisions of timing in one epoch: for each holder the gradients in the order in
/// which it took them in. Gradient i of a worker there is the one of its step i, except
/// with backup workers, where so many entries in turn make a step.
using epoch_updates = std::vector<std::vector<applied_gradient>>;

/// The decisions of timing in a training. Who has it makes the same weights again.
struct updates_log {
  std::uint32_t workers = 0;
  std::vector<epoch_updates> epochs; ///< The training's own, in their order.

  friend bool operator==(const updates_log&, const updates_log&) = default;
};

/// How many of a worker's gradients came too late to count.
struct left_out_gradients {
  std::uint32_t worker = 0;
  std::uint64_t left_out = 0, of = 0;

  friend bool operator==(const left_out_gradients&, const left_out_gradients&) = default;
};

/// Returns the workers of whom clearly more was left out than of the others, by a fifth of
/// their gradients, of a training whose steps took `taken` gradients.
[[nodiscard]] std::vector<left_out_gradients> late_workers(const updates_log& log,
                                                           std::uint32_t taken);

/// Empty where nothing was decided by timing. A gradient takes a byte, or two where
/// workers times staleness is above 127.
[[nodiscard]] bytes encode(const updates_log& log);
/// Total: any bytes give the log that was encoded, or an error of kind corrupt.
[[nodiscard]] expected<updates_log> decode_updates_log(std::span<const char> data);

} // namespace clade
