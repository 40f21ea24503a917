#pragma once

#include "engine/run/records/record.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace clade {

/// One job of a run, as far as its records say.
struct recorded_job {
  candidate_id id = 0;
  std::string name;
  std::optional<evaluation> ended{};
  std::int64_t ended_ms = 0; ///< Since 1970.
};

/// The jobs of a run: a fold of its records, in their order.
class job_records {
public:
  /// Returns the job that this record ends, if it is such a record; valid until the next
  /// call.
  const recorded_job* take(std::int64_t unix_ms, const record& r);

  [[nodiscard]] const std::map<candidate_id, recorded_job>& all() const { return jobs_; }
  [[nodiscard]] const recorded_job* find(candidate_id id) const;
  /// How many ended, and of these how many did not succeed.
  [[nodiscard]] std::size_t ended() const { return ended_; }
  [[nodiscard]] std::size_t failed() const { return failed_; }

private:
  std::map<candidate_id, recorded_job> jobs_;
  std::size_t ended_ = 0, failed_ = 0;
};

/// One start of a job's program.
struct job_try {
  std::uint32_t number = 0;
  double seconds = 0;
  int exit_status = 0;
  std::int64_t started = 0;  ///< Seconds since 1970.
  std::filesystem::path log; ///< Empty: none was kept.
};

[[nodiscard]] std::vector<job_try> tries_of(const recorded_job& job,
                                            const std::filesystem::path& logs);

/// "succeeded", "failed", "timed out", "out of memory", "dropped"; what has not ended is
/// "not run".
[[nodiscard]] std::string outcome_text(const recorded_job& job);

} // namespace clade
