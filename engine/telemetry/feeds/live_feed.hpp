#pragma once

#include "engine/telemetry/picture/feed.hpp"

#include <filesystem>
#include <memory>

namespace clade {

/// A run of this machine as its head publishes it, or, while it has none, as its store
/// has it: when a head ends, and when the next one starts, the feed goes over. Blocks
/// until the first picture is there.
[[nodiscard]] expected<std::unique_ptr<feed>>
open_feed(const std::filesystem::path& store_file);

} // namespace clade
