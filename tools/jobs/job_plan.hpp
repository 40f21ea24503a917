#pragma once

#include "tools/jobs/arguments.hpp"
#include "tools/jobs/job_history.hpp"
#include "tools/jobs/scripts.hpp"

namespace clade {

/// A script with all that is known of it before it runs.
struct planned_job {
  script of;
  std::vector<std::string> command;
  /// The arguments that were wanted and that it does not take: "--folds".
  std::vector<std::string> not_taken;
  std::string trouble;           ///< Why its options are not known; empty: they are.
  std::optional<double> seconds; ///< That it took in an earlier run.
};

struct job_plan_params {
  std::vector<script> scripts;
  wanted_arguments arguments;
  std::filesystem::path directory; ///< The folder in which they run.
  std::size_t at_once = 1;         ///< So many are asked for their options together.
};

/// Gives each script the arguments that it takes; scripts are asked for their options only
/// where something depends on that. Jobs that nobody has timed come first, then the
/// longest, so that few slots are idle at the end. Blocks for at most 20 s for each
/// `at_once` scripts.
[[nodiscard]] expected<std::vector<planned_job>> plan_jobs(const job_plan_params& params,
                                                           const job_history& history);

/// How long these jobs take.
struct job_times {
  double at_once = 0;    ///< On so many slots.
  double one_by_one = 0; ///< One after another.
  /// The number of jobs whose times are known; the others are left out.
  std::size_t known = 0;
};
[[nodiscard]] job_times times_of(const std::vector<planned_job>& jobs, std::size_t slots);

} // namespace clade
