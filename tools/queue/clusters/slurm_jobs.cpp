#include "tools/queue/clusters/slurm_jobs.hpp"

#include "tools/launch/sbatch_text.hpp"
#include "tools/launch/shell_word.hpp"
#include "tools/queue/processes/entry_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <iomanip>
#include <map>
#include <sstream>

namespace clade {

namespace {

struct slurm_state {
  std::string_view theirs;
  entry_state ours;
};

/// All others are failures, named by SLURM's word.
constexpr std::array states{
    slurm_state{"PENDING", entry_state::waiting},
    slurm_state{"REQUEUED", entry_state::waiting},
    slurm_state{"REQUEUE_HOLD", entry_state::waiting},
    slurm_state{"REQUEUE_FED", entry_state::waiting},
    slurm_state{"SPECIAL_EXIT", entry_state::waiting},
    slurm_state{"CONFIGURING", entry_state::running},
    slurm_state{"RUNNING", entry_state::running},
    slurm_state{"COMPLETING", entry_state::running},
    slurm_state{"STAGE_OUT", entry_state::running},
    slurm_state{"SIGNALING", entry_state::running},
    slurm_state{"RESIZING", entry_state::running},
    slurm_state{"STOPPED", entry_state::running},
    slurm_state{"SUSPENDED", entry_state::preempted},
    slurm_state{"PREEMPTED", entry_state::preempted},
    slurm_state{"COMPLETED", entry_state::succeeded},
    slurm_state{"CANCELLED", entry_state::cancelled},
};

/// The description of one job by SLURM, as text.
struct slurm_job_text {
  std::string id, user, state, cpus, submitted, started, ended, reason, exit_code,
      directory, name, command, log, nodes;
};

entry_state state_of(const slurm_job_text& job) {
  // "CANCELLED by 1000"
  const auto word = job.state.substr(0, job.state.find(' '));
  const auto* found = std::ranges::find(states, word, &slurm_state::theirs);
  if (found == states.end())
    return entry_state::failed;
  return found->ours == entry_state::waiting && job.reason == "DependencyNeverSatisfied"
             ? entry_state::held
             : found->ours;
}

/// "3:0" is status 3, "0:9" signal 9.
std::string reason_of(const slurm_job_text& job, entry_state state) {
  const auto colon = job.exit_code.find(':');
  if (state == entry_state::failed && job.state != "FAILED")
    return job.state;
  if (state == entry_state::failed && colon != std::string::npos)
    return job.exit_code.substr(colon + 1) == "0"
               ? "ended with status " + job.exit_code.substr(0, colon)
               : "killed by signal " + job.exit_code.substr(colon + 1);
  const bool ended = state >= entry_state::succeeded;
  return ended || job.reason == "None" ? "" : job.reason;
}

/// Local time; null for "N/A", "Unknown" and what else is none.
ordered_json time_of(const std::string& text) {
  std::tm time{};
  time.tm_isdst = -1;
  std::istringstream in(text);
  in >> std::get_time(&time, "%Y-%m-%dT%H:%M:%S");
  const auto seconds = in.fail() ? -1 : std::mktime(&time);
  return seconds < 0 ? ordered_json() : ordered_json(std::int64_t{seconds} * 1000);
}

ordered_json number_of(const std::string& text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

ordered_json entry_of(const slurm_job_text& job) {
  const auto state = state_of(job);
  ordered_json e{{"id", job.id},
                 {"user", job.user},
                 {"name", some(job.name)},
                 {"state", to_text(state)},
                 {"reason", some(reason_of(job, state))},
                 {"slots", number_of(job.cpus)},
                 {"submitted", time_of(job.submitted)}};
  if (!is_waiting(state) && state != entry_state::held)
    e["started"] = time_of(job.started);
  if (state >= entry_state::succeeded)
    e["ended"] = time_of(job.ended);
  for (const auto& [key, text] :
       {std::pair{"directory", &job.directory}, std::pair{"program", &job.command},
        std::pair{"log", &job.log}})
    if (!text->empty())
      e[key] = *text;
  if (!job.nodes.empty())
    e["on"] = ordered_json::array({job.nodes});
  return e;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  std::istringstream in{std::string(text)};
  for (std::string line; std::getline(in, line);)
    if (!line.empty())
      lines.push_back(std::move(line));
  return lines;
}

/// So many fields between bars, of which the last may have bars; empty: there are fewer.
std::vector<std::string> fields_of(const std::string& line, std::size_t count) {
  std::vector<std::string> fields;
  std::size_t from = 0;
  while (fields.size() + 1 < count) {
    const auto to = line.find('|', from);
    if (to == std::string::npos)
      return {};
    fields.push_back(line.substr(from, to - from));
    from = to + 1;
  }
  fields.push_back(line.substr(from));
  return fields;
}

/// Starts what follows once for each rank, with what PyTorch's env:// wants to know. The
/// port follows from the job's number, so that jobs of one node do not take the same.
constexpr const char* srun_ranks =
    "export MASTER_ADDR=127.0.0.1 MASTER_PORT=$((20000 + SLURM_JOB_ID % 10000))\n"
    "exec srun --label sh -c 'export RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID "
    "WORLD_SIZE=$SLURM_NTASKS LOCAL_WORLD_SIZE=$SLURM_NTASKS; exec \"$@\"' sh";

std::string options_of(const queue_submission& s) {
  const auto ranks = s.ranks.value_or(1);
  std::string lines = fmt::format(
      "#SBATCH --open-mode=append\n#SBATCH --nodes=1\n#SBATCH --ntasks={}\n", ranks);
  lines += s.device == "cuda"
               ? fmt::format("#SBATCH --gres=gpu:{}\n", s.slots)
               : fmt::format("#SBATCH --cpus-per-task={}\n", s.slots / ranks);
  if (const auto seconds = s.time.count(); seconds > 0) {
    std::ostringstream time;
    time << seconds / 3600 << ':' << std::setfill('0') << std::setw(2)
         << seconds / 60 % 60 << ':' << std::setw(2) << seconds % 60;
    lines += fmt::format("#SBATCH --time={}\n", time.str());
  }
  if (s.priority != 0)
    lines += fmt::format("#SBATCH --nice={}\n", -s.priority);
  std::string after;
  for (const auto id : s.after)
    after += fmt::format(":{}", id);
  if (!after.empty())
    lines += fmt::format("#SBATCH --dependency=afterok{}\n", after);
  return lines + (s.requeue ? "#SBATCH --requeue\n" : "#SBATCH --no-requeue\n");
}

} // namespace

expected<std::string> slurm_entry_script(const cluster_job& job) {
  const auto& s = job.what;
  if (s.slots == 0)
    return fail(error_kind::invalid_input, "--slots: there must be one at least");
  if (auto ok = check_ranks(s); !ok)
    return tl::unexpected(ok.error());
  if (s.requeue && s.kind != entry_kind::command)
    return fail(error_kind::invalid_input,
                "--requeue: SLURM would begin another run; it is for commands");
  const auto words = cluster_words(job);
  const auto name =
      s.name.empty() ? std::filesystem::path(words.front()).filename().string() : s.name;
  if (auto ok = check_sbatch_text("the name", name).and_then([&] {
        return check_sbatch_folder(s.directory, "submit it in another one");
      });
      !ok)
    return tl::unexpected(ok.error());
  auto script =
      fmt::format("#!/bin/sh\n{}{}{}{}", sbatch_line("job-name", name),
                  sbatch_line("chdir", s.directory),
                  sbatch_line("output", sbatch_pattern(s.directory) + "/slurm-%j.out"),
                  options_of(s));
  for (const auto& option : job.options) {
    auto line = read_sbatch_option(option);
    if (!line)
      return tl::unexpected(line.error());
    script += *line;
  }
  script += s.ranks ? srun_ranks : "exec";
  for (const auto& word : words)
    script += " " + shell_word(word);
  return script + "\n";
}

ordered_json read_squeue(std::string_view text) {
  auto entries = ordered_json::array();
  for (const auto& line : lines_of(text))
    if (const auto f = fields_of(line, 8); !f.empty())
      entries.push_back(entry_of({.id = f[0],
                                  .user = f[1],
                                  .state = f[2],
                                  .cpus = f[3],
                                  .submitted = f[4],
                                  .started = f[5],
                                  .reason = f[6],
                                  .name = f[7]}));
  return entries;
}

ordered_json read_sacct(std::string_view text) {
  auto entries = ordered_json::array();
  for (const auto& line : lines_of(text))
    if (const auto f = fields_of(line, 10); !f.empty())
      entries.push_back(entry_of({.id = f[0],
                                  .user = f[1],
                                  .state = f[2],
                                  .cpus = f[3],
                                  .submitted = f[4],
                                  .started = f[5],
                                  .ended = f[6],
                                  .exit_code = f[7],
                                  .directory = f[8],
                                  .name = f[9]}));
  return entries;
}

ordered_json read_sinfo(std::string_view text) {
  std::map<std::string, ordered_json> by_name; // A node has a line for each partition.
  for (const auto& line : lines_of(text))
    if (const auto f = fields_of(line, 3); !f.empty()) {
      // "allocated/idle/other/total"
      const auto cpus = f[2].substr(0, f[2].find(' '));
      by_name[f[0]] = {{"machine", f[0]},
                       {"state", f[1]},
                       {"device", "cpu"},
                       {"slots", number_of(cpus.substr(cpus.rfind('/') + 1))},
                       {"used", number_of(cpus)}};
    }
  auto all = ordered_json::array();
  for (auto& [_, node] : by_name)
    all.push_back(std::move(node));
  return all;
}

ordered_json read_scontrol(std::string_view text) {
  slurm_job_text job;
  // A value that may hold spaces is the last of its line.
  const auto rest_of = [](const std::string& line, const std::string& key) {
    const auto at = line.find(key + "=");
    return at == std::string::npos ? std::string() : line.substr(at + key.size() + 1);
  };
  const auto word_of = [&](const std::string& line, const std::string& key) {
    // Not the end of a longer key.
    const auto rest = rest_of(" " + line, " " + key);
    return rest.substr(0, rest.find(' '));
  };
  for (const auto& line : lines_of(text)) {
    const auto begin = line.substr(std::min(line.find_first_not_of(' '), line.size()));
    if (begin.starts_with("JobId=")) {
      job.id = word_of(begin, "JobId");
      job.name = rest_of(begin, "JobName");
    } else if (begin.starts_with("UserId=")) {
      const auto user = word_of(begin, "UserId"); // "ann(1000)"
      job.user = user.substr(0, user.find('('));
    } else if (begin.starts_with("JobState=")) {
      job.state = word_of(begin, "JobState");
      job.reason = word_of(begin, "Reason");
    } else if (begin.starts_with("Command=")) {
      job.command = rest_of(begin, "Command");
    } else if (begin.starts_with("WorkDir=")) {
      job.directory = rest_of(begin, "WorkDir");
    } else if (begin.starts_with("StdOut=")) {
      job.log = rest_of(begin, "StdOut");
    } else {
      for (const auto& [key, value] :
           {std::pair{"ExitCode", &job.exit_code},
            std::pair{"SubmitTime", &job.submitted}, std::pair{"StartTime", &job.started},
            std::pair{"EndTime", &job.ended}, std::pair{"NumCPUs", &job.cpus},
            std::pair{"NodeList", &job.nodes}})
        if (value->empty())
          *value = word_of(begin, key);
    }
  }
  for (auto* text : {&job.command, &job.nodes})
    if (*text == "(null)")
      text->clear();
  return job.id.empty() ? ordered_json() : entry_of(job);
}

} // namespace clade
