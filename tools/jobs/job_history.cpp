#include "tools/jobs/job_history.hpp"

#include "engine/store/run/store.hpp"
#include "engine/store/sqlite/run_folder.hpp"
#include "tools/jobs/job_records.hpp"
#include "tools/jobs/job_run.hpp"

#include <algorithm>

namespace clade {

namespace {

constexpr std::size_t most_runs = 20;

/// Adds the jobs of one run; returns whether it is a run of jobs.
bool add_run(const store& file, job_history& history) {
  const auto run = file.overview();
  if (!run)
    return false;
  const auto e = parse_resolved(run->experiment, "the run's experiment");
  const auto* params = e ? jobs_of(*e) : nullptr;
  if (params == nullptr)
    return false;
  job_records records;
  const auto read = file.for_each(
      [&](std::uint64_t, std::int64_t at, const record& r) -> expected<void> {
        const auto* job = records.take(at, r);
        if (job != nullptr && !job->ended->curve.empty())
          if (const auto found = params->commands.find(job->name);
              found != params->commands.end())
            history.add(found->second, job->ended->seconds);
        return {};
      });
  return read.has_value();
}

} // namespace

job_history job_history::read(const std::filesystem::path& runs) {
  job_history history;
  const auto folders = list_run_folders(runs);
  std::size_t found = 0;
  if (folders)
    for (const auto& f : *folders)
      if (const auto file = store::open_to_read(f.store_file());
          file && found < most_runs)
        found += add_run(*file, history);
  return history;
}

std::optional<double> job_history::seconds(const std::vector<std::string>& command,
                                           const std::filesystem::path& script) const {
  auto known = std::ranges::find(past_, command, &past_job::command);
  if (known == past_.end())
    known = std::ranges::find_if(past_, [&](const past_job& p) {
      return std::ranges::find(p.command, script.string()) != p.command.end();
    });
  return known == past_.end() ? std::nullopt : std::optional(known->seconds);
}

} // namespace clade
