#pragma once

#include "engine/telemetry/picture/feed.hpp"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <memory>
#include <string>

namespace clade {

/// Which run a viewer means: one of this machine, or tcp://HOST:PORT with the keys of a
/// bundle.
struct watched_run {
  std::string run;
  std::filesystem::path keys;
};
void add_watched_run(CLI::App& sub, watched_run& run);

[[nodiscard]] expected<std::unique_ptr<feed>> open_watched(const watched_run& run);

} // namespace clade
