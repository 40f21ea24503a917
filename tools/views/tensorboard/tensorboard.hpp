#pragma once

#include "engine/telemetry/picture/feed.hpp"

#include <filesystem>

namespace clade {

/// Writes a run as TensorBoard reads it, until the run ends; of one that has ended, at
/// once. In `folder` itself
///
///   fitness/best, fitness/median, fitness/lower_quartile, fitness/upper_quartile,
///   evaluations/succeeded, evaluations/failed      by generation
///   experiment                                     its TOML, as text
///
/// and in `folder`/candidate-000231, for each that was among the five fittest when a
/// generation was closed or at the end, its metrics by epoch, and as texts its network
/// and its hyperparameters. To write a run again replaces what was written of it. Blocks;
/// uses the feed from this thread. `io`: a file cannot be written.
[[nodiscard]] expected<void> write_tensorboard(feed& from,
                                               const std::filesystem::path& folder);

} // namespace clade
