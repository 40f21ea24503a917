#include "tools/jobs/stored_jobs.hpp"

#include "tools/jobs/job_run.hpp"
#include "tools/launch/shell_word.hpp"

#include <map>

namespace clade {

expected<jobs_summary> read_jobs(const experiment& e, const store& s,
                                 const std::filesystem::path& folder) {
  const auto* params = jobs_of(e);
  jobs_summary all{.run = folder,
                   .logs = params->logs,
                   .directory = params->directory,
                   .commands = params->commands};
  job_records records;
  auto read =
      s.for_each([&](std::uint64_t, std::int64_t at, const record& r) -> expected<void> {
        records.take(at, r);
        return {};
      });
  if (!read)
    return tl::unexpected(std::move(read).error());
  std::map<std::string, recorded_job> by_name;
  for (const auto& [name, command] : params->commands)
    by_name.emplace(name, recorded_job{.name = name}); // It may not be born yet.
  for (const auto& [id, job] : records.all())
    by_name.insert_or_assign(job.name, job);
  for (const auto& [name, job] : by_name)
    all.jobs.push_back(job);
  return all;
}

expected<std::optional<jobs_summary>> find_jobs(const store& s,
                                                const std::filesystem::path& folder) {
  const auto overview = s.overview();
  if (!overview)
    return tl::unexpected(overview.error());
  if (overview->experiment.empty())
    return std::nullopt; // Nothing is recorded yet.
  const auto e = parse_resolved(overview->experiment, folder.string());
  if (!e)
    return tl::unexpected(e.error());
  if (jobs_of(*e) == nullptr)
    return std::nullopt;
  return read_jobs(*e, s, folder).map([](jobs_summary&& all) {
    return std::optional(std::move(all));
  });
}

std::vector<told_job> told_jobs(const jobs_summary& s) {
  std::vector<told_job> told;
  for (const auto& j : s.jobs) {
    told_job one{.name = j.name, .outcome = outcome_text(j)};
    if (const auto command = s.commands.find(j.name); command != s.commands.end())
      for (const auto& word : command->second)
        one.command += (one.command.empty() ? "" : " ") + shell_word(word);
    if (j.ended) {
      one.slot = j.ended->slot;
      one.seconds = j.ended->seconds;
      one.tries = tries_of(j, {}).size();
      one.reason = reason_of(j.name, j.ended->reason);
    }
    told.push_back(std::move(one));
  }
  return told;
}

} // namespace clade
