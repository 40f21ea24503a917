#include "tools/launch/launch_slurm.hpp"

#include "tools/launch/shell_word.hpp"

#include <algorithm>

// A line of options is read by sbatch itself, by rules of its own: inside double quotes a
// backslash takes the next character as it is, outside of them a space ends the option
// and "#" the line. --output is moreover a pattern in which "%%" is one "%", and any
// backslash turns the patterns off. The command below is read by the shell, and the
// workers' own variables by a second shell on each node, which gets every value of ours
// as an argument.

namespace clade {

namespace {

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

expected<void> check_text(const std::string& what, const std::string& text) {
  if (std::ranges::any_of(text, is_control))
    return fail(error_kind::invalid_input,
                what
                    + " has a line break or another control character, which no option "
                      "of sbatch can");
  return {};
}

std::string sbatch_line(const std::string& option, const std::string& value) {
  std::string line = "#SBATCH --" + option + "=\"";
  for (const char c : value)
    line += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
  return line + "\"\n";
}

/// "partition=gpu", "--exclusive": one of the user's.
expected<std::string> sbatch_line(std::string option) {
  if (auto ok = check_text("--sbatch", option); !ok)
    return tl::unexpected(ok.error());
  option.erase(0, option.starts_with("--") ? 2 : 0);
  const auto name = option.substr(0, option.find('='));
  const auto belongs = [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; };
  if (name.empty() || name.front() == '-' || !std::ranges::all_of(name, belongs))
    return fail(error_kind::invalid_input,
                "--sbatch \"" + option
                    + "\": no option of sbatch; write it as in --sbatch partition=gpu");
  if (name.size() == option.size())
    return "#SBATCH --" + name + "\n";
  return sbatch_line(name, option.substr(name.size() + 1));
}

std::string filename_pattern(const std::string& path) {
  std::string pattern;
  for (const char c : path)
    pattern += c == '%' ? std::string("%%") : std::string{c};
  return pattern;
}

expected<void> check(const slurm_job& job) {
  if (job.nodes == 0)
    return fail(error_kind::invalid_input, "--nodes: there must be one at least");
  const auto folder = job.folder.string();
  if (folder.find('\\') != std::string::npos)
    return fail(error_kind::invalid_input,
                folder
                    + ": SLURM cannot write a log in a folder whose name has a "
                      "backslash; name another one with --runs");
  return check_text("the run's name", job.name).and_then([&] {
    return check_text("the run's folder", folder);
  });
}

std::string command(const slurm_job& job) {
  std::string words;
  for (const auto& value : {job.program, job.connect, job.keys.string(), job.slots})
    words += " " + shell_word(value);
  return "exec srun --no-kill --kill-on-bad-exit=0 --wait=0 --cpu-bind=none \\\n"
         "  /bin/sh -c 'exec \"$1\" worker --connect \"$2\" --keys \"$3\" --slots \"$4\" "
         "\\\n"
         "    --name \"slurm-$SLURM_JOB_ID-$SLURMD_NODENAME\"' \\\n"
         "  worker"
         + words + "\n";
}

} // namespace

expected<std::string> slurm_script(const slurm_job& job) {
  if (auto ok = check(job); !ok)
    return tl::unexpected(ok.error());
  const auto folder = job.folder.string();
  std::string script = "#!/bin/sh\n"
                       "# One worker on each node. Submitted again, it adds as many.\n";
  script += sbatch_line("job-name", job.name);
  script += sbatch_line("chdir", folder);
  script += sbatch_line("output", filename_pattern(folder) + "/slurm-%j.log");
  script += "#SBATCH --open-mode=append\n";
  script += "#SBATCH --nodes=" + std::to_string(job.nodes) + "\n";
  script += "#SBATCH --ntasks-per-node=1\n";
  if (job.gpus_per_node > 0)
    script += "#SBATCH --gpus-per-node=" + std::to_string(job.gpus_per_node) + "\n";
  if (job.cpus_per_node > 0)
    script += "#SBATCH --cpus-per-task=" + std::to_string(job.cpus_per_node) + "\n";
  script += "#SBATCH --requeue\n"
            "#SBATCH --no-kill\n"
            "#SBATCH --signal=TERM@60\n";
  for (const auto& option : job.options) {
    auto line = sbatch_line(option);
    if (!line)
      return tl::unexpected(line.error());
    script += *line;
  }
  return script + command(job);
}

expected<std::string> read_slurm_job_id(std::string_view said) {
  // Warnings come first, and the last line ends with a line break.
  while (said.ends_with('\n'))
    said.remove_suffix(1);
  const auto line = said.substr(said.rfind('\n') + 1);
  const auto number = line.substr(0, line.find(';'));
  if (number.empty()
      || !std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; }))
    return fail(error_kind::io,
                "sbatch did not name the job; it said: " + std::string(line));
  return std::string(number);
}

} // namespace clade
