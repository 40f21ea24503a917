#pragma once

#include "tools/cli/base/command.hpp"
#include "tools/jobs/job_run.hpp"

#include <map>
#include <string>

namespace clade {

/// How a run of jobs is shown, and how others share in it.
struct jobs_session_params {
  sharing_options sharing;
  std::map<std::string, double> seconds; ///< That jobs took before, by name.
  bool json = false;
};

/// Runs the jobs that have not ended and says how all stand at the end, in a table and in
/// summaries/training_summary_TIME.json beside their logs. Returns the exit status: 0 where
/// all succeeded, 1 where not, 130 after an interrupt.
[[nodiscard]] int show_jobs(const jobs_session_params& params,
                            const checked_experiment& checked,
                            const std::filesystem::path& folder, store file,
                            run_state state);

/// Makes a run of jobs below the folder `runs` and shows it to its end, as `show_jobs` does.
[[nodiscard]] int start_jobs(job_run_params params, const std::filesystem::path& runs,
                             const jobs_session_params& shown);

/// Says how the jobs of a stored run stand, and returns the exit status.
[[nodiscard]] int show_stored_jobs(const experiment& e,
                                   const std::filesystem::path& folder);

/// Adds `clade jobs resume`.
void add_resume_jobs(CLI::App& jobs, command& chosen);

} // namespace clade
