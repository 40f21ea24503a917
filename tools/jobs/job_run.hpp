#pragma once

#include "engine/config/experiment/experiment.hpp"
#include "engine/evaluation/jobs/jobs.hpp"
#include "tools/run/new_run.hpp"

#include <string>
#include <vector>

namespace clade {

/// The parts that a run of jobs is made from.
struct job_run_params {
  std::string name = "jobs"; ///< The run's folder is runs/NAME-TIME.
  jobs_params jobs;
  /// The names of all jobs in the order in which they are handed out.
  std::vector<std::string> order;
  std::uint64_t memory_bytes = 0; ///< The memory of one job; 0: unlimited.
  std::string slots;              ///< The same as `[slots] local` and `listen`.
  std::string listen{};
};

/// Returns the experiment whose candidates are the jobs, each once: random search over the
/// names of all, which begins with all of them, and ends there.
[[nodiscard]] expected<experiment> experiment_of(const job_run_params& params);

/// The jobs of an experiment; nullptr if it runs none.
[[nodiscard]] const jobs_params* jobs_of(const experiment& e);

} // namespace clade
