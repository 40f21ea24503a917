#pragma once

#include "tools/run/new_run.hpp"
#include "tools/run/session.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace clade {

/// A synthetic experiment, or another that needs no data, over a search space.
struct synthetic_run_params {
  std::filesystem::path runs;
  std::string name;
  std::filesystem::path space;
  std::string fitness = "synthetic";
  std::string rest = {}; ///< The sections that follow its [search_space].
  std::vector<std::string> overrides = {};
};

/// Makes a run of it, by way of a file, because that is how experiments come.
[[nodiscard]] expected<new_run> make_synthetic_run(const synthetic_run_params& params);

/// Runs what was just made to its end and shows nothing; an interrupt lets it drain.
/// `observe` is called ten times a second and at the end, if set. `conflict` where it was
/// interrupted.
[[nodiscard]] expected<session_result>
run_to_end(new_run fresh, std::function<void(const run_progress&)> observe = {});

/// Returns the memory that this process takes.
[[nodiscard]] double resident_megabytes();

} // namespace clade
