#pragma once

#include "tools/run/stored_run.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace clade {

struct fork_params {
  std::uint64_t generation = 0;     ///< At whose start the new run begins.
  std::vector<std::string> changes; ///< "evolution.population=48"
  std::string name;                 ///< The name of the new run.
};

struct forked_run {
  std::filesystem::path folder;
  /// The best that was taken over, if it was trained and its weights are not kept, so
  /// that it is trained again by the changed rules, should the test data meet it; else 0.
  candidate_id without_weights = 0;
};

/// Makes a new run of what is stored up to the start of a generation, with changes.
/// `resume_run` goes on with it.
[[nodiscard]] expected<forked_run> fork_run(const opened_run& run,
                                            const fork_params& params);

} // namespace clade
