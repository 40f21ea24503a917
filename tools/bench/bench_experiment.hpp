#pragma once

#include "tools/run/new_run.hpp"
#include "tools/run/session.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace clade {

/// A synthetic experiment of that name over a search space as a file in `runs`, because
/// that is how experiments come. `rest` is what follows its [search_space].
[[nodiscard]] expected<std::filesystem::path>
write_experiment(const std::filesystem::path& runs, const std::string& name,
                 const std::filesystem::path& space, const std::string& rest = "");

/// Runs what was just made to its end and shows nothing; an interrupt lets it drain.
/// `observe` is called ten times a second and at the end, if set. `conflict` where it was
/// interrupted.
[[nodiscard]] expected<session_result>
run_to_end(new_run fresh, std::function<void(const run_progress&)> observe = {});

/// What this process takes.
[[nodiscard]] double resident_megabytes();

} // namespace clade
