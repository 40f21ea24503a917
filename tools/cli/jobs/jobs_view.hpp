#pragma once

#include "engine/store/run/store.hpp"
#include "tools/jobs/job_records.hpp"
#include "tools/run/run_files.hpp"
#include "tools/run/session.hpp"

#include <map>
#include <string>

namespace clade {

struct jobs_view_params {
  std::filesystem::path logs;            ///< With the orchestrator's own log.
  std::map<std::string, double> seconds; ///< That jobs took before.
  std::uint32_t tries = 1;               ///< The tries of each job, at most.
  bool json = false, terminal = false;
};

/// Says a line as a job starts, is tried again and ends, on the screen and in
/// logs/orchestrator.log, and on a terminal keeps a last line of what is left. It reads
/// from the store what has ended the session.
class jobs_view final : public session_observer {
public:
  /// Records from before `file` is opened are not told.
  jobs_view(jobs_view_params params, store file);

  void listens(const std::string& address, const std::filesystem::path& keys) override;
  void publishes(const std::string& address) override;
  void progressed(const run_progress& progress, const slots_view& slots) override;
  void warns(const std::string& sentence) override;

  /// Removes the line that is kept up to date.
  void clear();

private:
  using clock = std::chrono::steady_clock;

  struct running_job {
    clock::time_point since;
    std::uint32_t tries = 0; ///< That failed and were told.
  };

  void look_at_slots(const slots_view& slots);
  void read_records(bool tell);
  void tell_start(const recorded_job& job, const std::string& slot);
  /// `failed`: how many of its tries.
  void tell_retries(const recorded_job& job, std::uint32_t failed);
  void tell_end(const recorded_job& job);
  /// `event` is for programs.
  void say(const std::string& job, const std::string& words, const std::string& event);
  [[nodiscard]] std::string status() const;
  [[nodiscard]] std::optional<double> seconds_left() const;

  jobs_view_params params_;
  store file_;
  run_log log_;
  job_records records_;
  std::uint64_t last_record_ = 0;
  std::map<candidate_id, running_job> running_;
  std::size_t slots_ = 0;
  bool line_open_ = false, stopping_ = false, unreadable_ = false;
};

} // namespace clade
