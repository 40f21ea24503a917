#include "tools/jobs/job_records.hpp"

#include "engine/evaluation/jobs/jobs.hpp"

namespace clade {

const recorded_job* job_records::take(std::int64_t unix_ms, const record& r) {
  if (const auto* born = std::get_if<candidate_born>(&r)) {
    const auto& c = born->born;
    jobs_.insert_or_assign(c.id, recorded_job{.id = c.id, .name = job_of(*c.genome)});
    return nullptr;
  }
  const auto* evaluated = std::get_if<candidate_evaluated>(&r);
  if (evaluated == nullptr)
    return nullptr;
  const auto job = jobs_.find(evaluated->evaluated.id);
  if (job == jobs_.end())
    return nullptr;
  job->second.ended = evaluated->evaluated;
  job->second.ended_ms = unix_ms;
  ++ended_;
  failed_ += evaluated->evaluated.outcome != outcome::succeeded;
  return &job->second;
}

const recorded_job* job_records::find(candidate_id id) const {
  const auto job = jobs_.find(id);
  return job == jobs_.end() ? nullptr : &job->second;
}

std::vector<job_try> tries_of(const recorded_job& job,
                              const std::filesystem::path& logs) {
  std::vector<job_try> tries;
  if (!job.ended)
    return tries;
  for (const auto& e : job.ended->curve) {
    job_try one{.number = e.number, .seconds = e.seconds};
    one.exit_status = static_cast<int>(find(e.metrics, exit_status_metric).value_or(0));
    one.started = static_cast<std::int64_t>(find(e.metrics, started_metric).value_or(0));
    // A log bears the time of the first try.
    const auto first = tries.empty() ? one.started : tries.front().started;
    if (!logs.empty())
      one.log = job_log(logs, job.name, std::chrono::seconds(first), one.number);
    tries.push_back(std::move(one));
  }
  return tries;
}

std::string outcome_text(const recorded_job& job) {
  return job.ended ? job_outcome_text(job.ended->outcome) : "not run";
}

} // namespace clade
