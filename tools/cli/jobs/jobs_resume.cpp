#include "engine/store/sqlite/run_folder.hpp"
#include "tools/cli/jobs/jobs_session.hpp"
#include "tools/jobs/job_records.hpp"
#include "tools/run/resumed_run.hpp"
#include "tools/run/stored_run.hpp"

#include <iostream>
#include <memory>

namespace clade {

namespace {

namespace fs = std::filesystem;

struct resume_jobs_options {
  std::string run = job_run_params().name;
  std::string slots;
  sharing_options sharing;
  bool failed = false, json = false;
};

tl::unexpected<error> no_jobs(const std::string& run) {
  return fail(error_kind::invalid_input,
              run + ": it is no run of jobs; clade resume goes on with it");
}

expected<int> resume_jobs(const fs::path& folder, const resume_jobs_options& options) {
  auto run = open_to_resume(
      {.folder = folder, .slots = options.slots, .listen = options.sharing.listen});
  if (!run)
    return tl::unexpected(std::move(run).error());
  if (jobs_of(run->checked.experiment) == nullptr)
    return no_jobs(options.run);
  if (run->state.finished)
    return show_stored_jobs(run->checked.experiment, folder);
  if (auto recorded = record_resumed(*run); !recorded)
    return tl::unexpected(std::move(recorded).error());
  if (!options.json)
    std::cout << "resumes " << folder.string() << std::endl;
  return show_jobs({.sharing = options.sharing, .json = options.json}, run->checked,
                   folder, std::move(run->file), std::move(run->state));
}

/// A new run of what failed in that one.
expected<int> run_failed(const fs::path& folder, const resume_jobs_options& options) {
  const auto opened = open_stored_run(folder.string());
  if (!opened)
    return tl::unexpected(opened.error());
  const auto folded = fold_run(opened->s, folder.string());
  if (!folded)
    return tl::unexpected(folded.error());
  const auto& e = folded->experiment;
  const auto* jobs = jobs_of(e);
  if (jobs == nullptr)
    return no_jobs(options.run);
  job_run_params params{.name = e.name,
                        .jobs = *jobs,
                        .memory_bytes = e.limits.evaluation_memory,
                        .slots = options.slots.empty() ? e.slots.local : options.slots};
  job_records records;
  auto read = opened->s.for_each(
      [&](std::uint64_t, std::int64_t at, const record& r) -> expected<void> {
        const auto* job = records.take(at, r);
        if (job != nullptr && job->ended->outcome == outcome::succeeded)
          params.jobs.commands.erase(job->name);
        return {};
      });
  if (!read)
    return tl::unexpected(std::move(read).error());
  for (const auto& [name, command] : params.jobs.commands)
    params.order.push_back(name);
  if (params.order.empty()) {
    std::cout << "all of its jobs succeeded\n";
    return 0;
  }
  return start_jobs(std::move(params), folder.parent_path(),
                    {.sharing = options.sharing, .json = options.json});
}

int resume(const resume_jobs_options& options) {
  auto found = find_run(options.run);
  if (!found)
    return report(found.error());
  const auto folder = fs::absolute(*found);
  const auto status =
      options.failed ? run_failed(folder, options) : resume_jobs(folder, options);
  return status ? *status : report(status.error());
}

} // namespace

void add_resume_jobs(CLI::App& jobs, command& chosen) {
  auto options = std::make_shared<resume_jobs_options>();
  auto* again =
      jobs.add_subcommand("resume", "Run the jobs of a run that have not ended");
  again
      ->add_option("run", options->run,
                   "The run: its folder, or its name for the latest one")
      ->capture_default_str();
  again->add_option("--slots", options->slots, "Other slots than it had");
  add_sharing(*again, options->sharing);
  again->add_flag("--failed", options->failed,
                  "Make a new run of all that did not succeed");
  again->add_flag("--json", options->json, "One JSON object a line, for programs");
  again->callback(
      [&chosen, options] { chosen = [options] { return resume(*options); }; });
}

} // namespace clade
