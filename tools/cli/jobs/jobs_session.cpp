#include "tools/cli/jobs/jobs_session.hpp"

#include "engine/report/base/json_parts.hpp"
#include "engine/store/sqlite/run_folder.hpp"
#include "genome/base/wall_clock.hpp"
#include "tools/cli/base/interrupts.hpp"
#include "tools/cli/jobs/jobs_view.hpp"
#include "tools/jobs/stored_jobs.hpp"
#include "tools/machine/process_limits.hpp"
#include "tools/machine/standard_streams.hpp"
#include "tools/run/publishing.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iostream>
#include <set>

namespace clade {

namespace {

namespace fs = std::filesystem;

constexpr int interrupted_status = 128 + SIGINT;

expected<jobs_summary> read_summary(const experiment& e, const fs::path& folder) {
  return store::open_to_read(folder / store_file_name).and_then([&](const store& s) {
    return read_jobs(e, s, folder);
  });
}

/// Returns where it was written.
expected<fs::path> write_summary(const jobs_summary& s) {
  const auto folder = s.logs.parent_path() / "summaries";
  std::error_code failed;
  fs::create_directories(folder, failed);
  const auto stamp = time_stamp(s.started_ms);
  for (int copy = 1;; ++copy) {
    const auto path = folder
                      / (fmt::format("training_summary_{}{}.json", stamp,
                                     copy == 1 ? "" : fmt::format("-{}", copy)));
    if (!failed && fs::exists(path, failed))
      continue;
    std::ofstream out(path, std::ios::binary);
    out << to_json(s) << std::flush;
    if (!out)
      return fail(error_kind::io, path.string() + ": cannot be written");
    return path;
  }
}

/// On how many slots, of whatever machine, jobs ended in this session.
std::size_t slots_used(const jobs_summary& s) {
  std::set<std::string> slots;
  for (const auto& j : s.jobs)
    if (j.ended && j.ended_ms >= s.started_ms)
      slots.insert(j.ended->slot);
  return slots.size();
}

int status_of(const jobs_summary& s) {
  if (s.interrupted)
    return interrupted_status;
  return s.succeeded() == s.jobs.size() ? 0 : 1;
}

int say_summary(const jobs_summary& s, bool json) {
  const auto written = write_summary(s);
  if (json) {
    ordered_json line{{"event", "ended"},
                      {"run", s.run.string()},
                      {"succeeded", s.succeeded()},
                      {"failed", s.failed()},
                      {"not_run", s.not_run()}};
    if (written)
      line["summary"] = written->string();
    std::cout << text_of(line) << std::endl;
  } else {
    std::cout << "\n" << to_text(s);
    if (written)
      std::cout << "summary: " << written->string() << "\n";
    if (s.not_run() > 0)
      std::cout << "go on with: clade jobs resume " << s.run.string() << "\n";
    std::cout << std::flush;
  }
  if (!written)
    return report(written.error());
  if (const auto said = flush_output(); !said)
    return report(said.error());
  return status_of(s);
}

expected<session_params> session_of(const jobs_session_params& params,
                                    const checked_experiment& checked,
                                    const fs::path& folder) {
  const auto lease = lease_of(params.sharing);
  if (!lease)
    return tl::unexpected(lease.error());
  const auto publish = publishing_at(params.sharing.publish, params.sharing.keys);
  if (!publish)
    return tl::unexpected(publish.error());
  auto interrupts = watch_two_interrupts();
  return session_params{.experiment = checked.experiment,
                        .problem = checked.problem,
                        .folder = folder,
                        .authority = params.sharing.keys,
                        .publish = *publish,
                        .lease = *lease,
                        .interrupted = std::move(interrupts.asked),
                        .hurried = std::move(interrupts.hurried)};
}

} // namespace

int show_jobs(const jobs_session_params& params, const checked_experiment& checked,
              const fs::path& folder, store file, run_state state) {
  const auto& e = checked.experiment;
  const auto* jobs = jobs_of(e);
  const auto session = session_of(params, checked, folder);
  if (!session)
    return report(session.error());
  if (const auto enough = check_process_limits(); !enough)
    return report(enough.error());
  auto to_read = store::open_to_read(folder / store_file_name);
  if (!to_read)
    return report(to_read.error());
  jobs_view view({.logs = jobs->logs,
                  .seconds = params.seconds,
                  .tries = jobs->retries + 1,
                  .json = params.json,
                  .terminal = ::isatty(STDOUT_FILENO) == 1},
                 std::move(*to_read));
  const auto started = unix_ms();
  const auto ended = run_session(*session, view, std::move(file), std::move(state));
  view.clear();
  if (!ended)
    return report(ended.error()); // A run that is recorded can be resumed.
  auto s = read_summary(e, folder);
  if (!s)
    return report(s.error());
  s->started_ms = started;
  s->wall_seconds = ended->seconds;
  s->workers = std::max(ended->slots, slots_used(*s));
  s->interrupted = ended->interrupted;
  return say_summary(*s, params.json);
}

int start_jobs(job_run_params params, const fs::path& runs,
               const jobs_session_params& shown) {
  std::error_code failed;
  fs::create_directories(params.jobs.logs, failed);
  if (failed)
    return report(
        {error_kind::io, fmt::format("{}: {}; --output says where logs go",
                                     params.jobs.logs.string(), failed.message())});
  params.listen = shown.sharing.listen;
  auto checked = experiment_of(params).and_then(
      [](experiment e) { return check_experiment(std::move(e)); });
  if (!checked)
    return report(checked.error());
  auto fresh = make_run(*checked, runs);
  if (!fresh)
    return report(fresh.error());
  if (shown.json)
    std::cout << text_of({{"event", "run"}, {"folder", fresh->folder.string()}})
              << std::endl;
  else
    std::cout << params.name << ": " << fresh->folder.string() << std::endl;
  return show_jobs(shown, *checked, fresh->folder, std::move(fresh->file),
                   std::move(fresh->state));
}

int show_stored_jobs(const experiment& e, const fs::path& folder) {
  const auto s = read_summary(e, folder);
  if (!s)
    return report(s.error());
  std::cout << to_text(*s) << std::flush;
  return status_of(*s);
}

} // namespace clade
