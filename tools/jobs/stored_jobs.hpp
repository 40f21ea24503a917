#pragma once

#include "engine/config/experiment/experiment.hpp"
#include "engine/report/page/run_report.hpp"
#include "engine/store/run/store.hpp"
#include "tools/jobs/jobs_summary.hpp"

#include <filesystem>
#include <optional>

namespace clade {

/// Returns what the store says of all jobs of this experiment, which has some
/// (`jobs_of`). No session is named: its times are 0.
[[nodiscard]] expected<jobs_summary> read_jobs(const experiment& e, const store& s,
                                               const std::filesystem::path& folder);

/// The same for any stored run; none where it is no run of jobs.
[[nodiscard]] expected<std::optional<jobs_summary>>
find_jobs(const store& s, const std::filesystem::path& folder);

/// Returns the jobs as a report tells of them.
[[nodiscard]] std::vector<told_job> told_jobs(const jobs_summary& s);

} // namespace clade
