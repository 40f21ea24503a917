#pragma once

#include "engine/training/asked/distribution.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace clade {

/// Returns the layer at which each stage of a pipeline begins among layers that take so
/// much work each, and, as the last value, the end of the last stage: the division whose
/// longest stage takes the least work, each having a layer at least. There are as many
/// layers as stages, or more.
[[nodiscard]] std::vector<std::size_t>
divide_into_stages(std::span<const std::uint64_t> work, std::size_t stages);

/// The pass of one micro-batch through one stage, forward or back.
struct stage_pass {
  std::size_t stage = 0, micro_batch = 0;
  bool forward = true;
  std::uint64_t begin = 0, end = 0; ///< The times, if forward takes 1 and back takes 2.

  friend bool operator==(const stage_pass&, const stage_pass&) = default;
};

/// All passes of a step, each after those that it waits for: whoever makes those of some
/// stages in this order waits for nobody who waits for it. Micro-batches go through each
/// stage in their order, forward and back, so that gradients are added up alike.
///
/// gpipe (Huang et al., "GPipe: Efficient Training of Giant Neural Networks using Pipeline
/// Parallelism", 2019): all forward, then all back. one_forward_one_back (Narayanan et al.,
/// "PipeDream: Generalized Pipeline Parallelism for DNN Training", 2019, flushed after each
/// step): stage s of p has at most p - s micro-batches under way, and keeps what their way
/// back needs.
[[nodiscard]] std::vector<stage_pass>
plan_passes(stage_schedule schedule, std::size_t stages, std::size_t micro_batches);

/// The share of the time in which stages do nothing; (p - 1) / (m + p - 1) for p stages and
/// m micro-batches where all take as long.
[[nodiscard]] double idle_share(std::span<const stage_pass> passes, std::size_t stages);

} // namespace clade
