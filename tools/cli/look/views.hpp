#pragma once

#include "engine/telemetry/picture/feed.hpp"
#include "tools/views/web/web_hooks.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>

namespace clade {

/// How a run is to be shown; in the terminal, if nothing else is said.
struct view_options {
  bool json = false;
  std::optional<std::uint16_t> web; ///< Port; 0: any.
  std::optional<std::uint16_t> metrics;
  std::filesystem::path tensorboard;
  web_hooks hooks{};  ///< The actions of a page beside showing the run.
  bool steps = false; ///< A replay: the person says when the next generation comes.
};

void add_views(CLI::App& sub, view_options& options);

/// Shows the feed until it ends or is interrupted, and returns the exit status.
[[nodiscard]] int show(feed& f, const view_options& options);

} // namespace clade
