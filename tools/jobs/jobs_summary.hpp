#pragma once

#include "tools/jobs/job_records.hpp"

#include <map>

namespace clade {

/// How a run of jobs ended, or stands.
struct jobs_summary {
  std::filesystem::path run;   ///< Its folder.
  std::int64_t started_ms = 0; ///< The start of this session; since 1970.
  double wall_seconds = 0;     ///< The same.
  std::size_t workers = 0;     ///< Slots, of whatever machine.
  bool interrupted = false;    ///< By Ctrl+C, before all had ended.
  std::filesystem::path logs, directory;
  std::map<std::string, std::vector<std::string>> commands;
  std::vector<recorded_job> jobs; ///< By name.

  [[nodiscard]] std::size_t succeeded() const;
  [[nodiscard]] std::size_t not_run() const;
  [[nodiscard]] std::size_t failed() const {
    return jobs.size() - succeeded() - not_run();
  }
  /// The seconds of each job that ended in this session.
  [[nodiscard]] std::vector<double> seconds() const;
};

/// A table of all jobs, and lines that count them and compare their time.
[[nodiscard]] std::string to_text(const jobs_summary& s);

/// Returns the text that tools/jobs/training_summary.schema.json describes, indented.
[[nodiscard]] std::string to_json(const jobs_summary& s);

} // namespace clade
