#pragma once

#include "engine/telemetry/picture/feed.hpp"

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>

namespace clade {

struct replay_params {
  /// The first generation to be shown as it came; what was before is there at once.
  std::uint64_t from = 0;
  /// The last one: it ends when that is closed.
  std::uint64_t to = std::numeric_limits<std::uint64_t>::max();
  /// So many times as fast as it was; infinite: without any pause.
  double speed = 1;
  /// Stops after each generation until `feed::step`.
  bool steps = false;
};

/// A stored run as it came, record by record, in its own time or faster. `showing` is
/// "replay" until it is through, and then what the store's is. Opening blocks while the
/// records before `from` are folded.
[[nodiscard]] expected<std::unique_ptr<feed>>
open_replay_feed(const std::filesystem::path& store_file, const replay_params& params);

} // namespace clade
