#include "tools/queue/clusters/slurm_cluster.hpp"

#include "tools/launch/outside_command.hpp"
#include "tools/launch/sbatch_text.hpp"
#include "tools/queue/clusters/slurm_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

// Jobs that are over are known to squeue and scontrol for some minutes only (MinJobAge),
// and to sacct for ever; but a cluster may have no accounting, and then sacct fails.

namespace clade {

namespace {

expected<void> check_id(const std::string& id) {
  if (!id.empty() && std::ranges::all_of(id, [](char c) {
        return (c >= '0' && c <= '9') || c == '_';
      }))
    return {};
  return fail(error_kind::invalid_input,
              fmt::format("\"{}\" is no number of a job of SLURM", id));
}

/// A program of SLURM that must succeed; returns what it prints.
expected<std::string> ask(std::vector<std::string> command) {
  const auto program = command.front();
  const auto done = run_outside({.command = std::move(command)});
  if (!done)
    return tl::unexpected(done.error());
  if (done->status != 0)
    return fail(error_kind::refused,
                fmt::format("{} ended with status {}", program, done->status));
  return done->output;
}

class slurm_cluster final : public cluster {
public:
  expected<std::string> text(const cluster_job& job) const override {
    return slurm_entry_script(job);
  }
  expected<std::string> submit(const cluster_job& job) const override;
  expected<ordered_json> list(bool all) const override;
  expected<ordered_json> find(const std::string& id) const override;
  expected<cluster_log> log(const std::string& id, bool follow) const override;
  expected<void> cancel(const std::string& id) const override;
  expected<ordered_json> processes(const std::string& id) const override;
  expected<ordered_json> machines() const override;
};

expected<std::string> slurm_cluster::submit(const cluster_job& job) const {
  const auto script = slurm_entry_script(job);
  if (!script)
    return tl::unexpected(script.error());
  const auto done = run_outside({.command = {"sbatch", "--parsable"}, .input = *script});
  if (!done)
    return tl::unexpected(done.error());
  if (done->status != 0)
    return fail(
        error_kind::refused,
        fmt::format("sbatch did not take the job (status {}); nothing was submitted",
                    done->status));
  return read_slurm_job_id(done->output);
}

expected<ordered_json> slurm_cluster::list(bool all) const {
  if (all) {
    const auto done =
        run_outside({.command = {"sacct", "--allusers", "--allocations", "--noheader",
                                 "--parsable2", "--format", sacct_format},
                     .keep_errors = true});
    if (done && done->status == 0)
      return read_sacct(done->output);
  }
  std::vector<std::string> command{"squeue", "--noheader", "--format", squeue_format};
  if (all)
    command.emplace_back("--states=all");
  return ask(std::move(command)).map([](const std::string& text) {
    return read_squeue(text);
  });
}

expected<ordered_json> slurm_cluster::find(const std::string& id) const {
  if (auto ok = check_id(id); !ok)
    return tl::unexpected(ok.error());
  const auto shown =
      run_outside({.command = {"scontrol", "show", "job", id}, .keep_errors = true});
  if (!shown)
    return tl::unexpected(shown.error());
  if (auto e = read_scontrol(shown->output); shown->status == 0 && !e.is_null())
    return e;
  const auto stored =
      run_outside({.command = {"sacct", "--jobs", id, "--allocations", "--noheader",
                               "--parsable2", "--format", sacct_format},
                   .keep_errors = true});
  if (stored && stored->status == 0)
    if (auto entries = read_sacct(stored->output); !entries.empty())
      return entries.front();
  return fail(error_kind::not_found,
              fmt::format("SLURM knows no job {}; scontrol says: {}", id,
                          shown->output.substr(0, shown->output.find('\n'))));
}

expected<cluster_log> slurm_cluster::log(const std::string& id, bool) const {
  return find(id).and_then([&](const ordered_json& e) -> expected<cluster_log> {
    if (e.contains("log"))
      return cluster_log{.file = e["log"].get<std::string>()};
    if (e.contains("directory")) // sacct knows no more; this is the name that we give it.
      return cluster_log{.file = std::filesystem::path(e["directory"].get<std::string>())
                                 / (fmt::format("slurm-{}.out", id))};
    return fail(error_kind::not_found,
                fmt::format("SLURM does not say where the log of job {} is", id));
  });
}

expected<void> slurm_cluster::cancel(const std::string& id) const {
  return find(id).and_then([&](const ordered_json& e) -> expected<void> {
    for (const auto over :
         {entry_state::succeeded, entry_state::failed, entry_state::cancelled})
      if (e["state"] == to_text(over))
        return fail(error_kind::conflict, fmt::format("job {} is over already", id));
    return ask({"scancel", id}).map([](const std::string&) {});
  });
}

expected<ordered_json> slurm_cluster::processes(const std::string& id) const {
  return find(id).and_then([&](const ordered_json& e) -> expected<ordered_json> {
    auto all = ordered_json::array();
    if (!e.contains("on")) // It waits, or sacct alone knows it.
      return all;
    const auto names =
        ask({"scontrol", "show", "hostnames", e["on"].at(0).get<std::string>()});
    if (!names)
      return tl::unexpected(names.error());
    std::istringstream lines(*names);
    for (std::string name; std::getline(lines, name);)
      all.push_back({{"machine", name},
                     {"process", nullptr}, // Known to the daemon of that machine alone.
                     {"state", e["state"]},
                     {"reason", e["reason"]}});
    return all;
  });
}

expected<ordered_json> slurm_cluster::machines() const {
  return ask({"sinfo", "--Node", "--noheader", "--format", sinfo_format})
      .map([](const std::string& text) { return read_sinfo(text); });
}

} // namespace

std::unique_ptr<cluster> open_slurm() {
  return std::make_unique<slurm_cluster>();
}

} // namespace clade
