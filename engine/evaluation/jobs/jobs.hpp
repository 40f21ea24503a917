#pragma once

#include "engine/evaluation/evaluator_spec.hpp"

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// The hyperparameter of a candidate that names its job.
inline constexpr std::string_view job_hyperparameter = "job";

/// Metrics of each try of a job, which is an epoch of its evaluation: what the program
/// ended with (128 + N where signal N killed it); what it took, with the tries before it;
/// when it began, in seconds since 1970; and its number. The metrics of a job that
/// succeeded are those of its last try.
inline constexpr std::string_view exit_status_metric = "exit_status";
inline constexpr std::string_view seconds_metric = "seconds";
inline constexpr std::string_view started_metric = "started";
inline constexpr std::string_view tries_metric = "tries";

/// `[jobs]`: each candidate is a program that is run to its end. It has succeeded if it
/// ends with status 0. Else it is tried again, as often as `retries` says, but not where
/// it took too long or too much memory, as it would again. Among the failures, `crashed`
/// is a program that ended otherwise (the reason has the last line that it wrote).
///
/// A program has the environment of its slot, and CLADE_JOB and CLADE_TRY; it may have as
/// many threads (OMP_NUM_THREADS) as its slot has cores.
struct jobs_params {
  /// The program and its arguments, by the job's name.
  std::map<std::string, std::vector<std::string>> commands;
  std::filesystem::path directory; ///< The folder in which they run.
  /// The folder of logs: what they write goes to `job_log` below it; empty: nowhere.
  std::filesystem::path logs;
  /// A try that takes longer is ended; 0: as long as it takes.
  std::chrono::microseconds timeout{0};
  std::uint32_t retries = 0;
};

[[nodiscard]] expected<void> validate(const jobs_params& params);

/// "LOGS/JOB/run_20260131-140500.log", and for the second try
/// "LOGS/JOB/run_20260131-140500_try2.log": local time, of the first try.
[[nodiscard]] std::filesystem::path job_log(const std::filesystem::path& logs,
                                            const std::string& job,
                                            std::chrono::seconds started,
                                            std::uint32_t attempt);

/// The job that this candidate is; empty if it is none.
[[nodiscard]] std::string job_of(const genome& g);

/// Returns the reason of a job's evaluation without the job's name, with which it begins
/// for those who know candidates by their numbers.
[[nodiscard]] std::string reason_of(const std::string& job, const std::string& reason);

/// How a job has ended: "succeeded", "failed", "timed out" ...
[[nodiscard]] std::string job_outcome_text(outcome o);

struct jobs_setup {
  jobs_params params;
  search_space space; ///< By these two it is known how large the candidates are.
  clade::problem problem;
  program_host host{};
};
[[nodiscard]] std::unique_ptr<fitness_function> make_jobs(jobs_setup setup);

[[nodiscard]] std::shared_ptr<const evaluator_spec> make_jobs_spec();

} // namespace clade
