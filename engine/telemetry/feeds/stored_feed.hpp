#pragma once

#include "engine/telemetry/picture/feed.hpp"

#include <filesystem>
#include <memory>

namespace clade {

/// A run as its store has it: nothing ever happens. Opening blocks while the records are
/// folded.
[[nodiscard]] expected<std::unique_ptr<feed>>
open_stored_feed(const std::filesystem::path& store_file);

} // namespace clade
