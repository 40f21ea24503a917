#include "tools/launch/launch_slurm.hpp"

#include "tools/launch/sbatch_text.hpp"
#include "tools/launch/shell_word.hpp"

#include <fmt/format.h>

// The command is read by the shell, and the workers' own variables by a second shell on
// each node, which gets every value of ours as an argument.

namespace clade {

namespace {

expected<void> check(const slurm_job& job) {
  if (job.nodes == 0)
    return fail(error_kind::invalid_input, "--nodes: there must be one at least");
  return check_sbatch_text("the run's name", job.name).and_then([&] {
    return check_sbatch_folder(job.folder.string(), "name another one with --runs");
  });
}

std::string command(const slurm_job& job) {
  std::string words;
  for (const auto& value : {job.program, job.connect, job.keys.string(), job.slots})
    words += " " + shell_word(value);
  return fmt::format(
      "exec srun --no-kill --kill-on-bad-exit=0 --wait=0 --cpu-bind=none \\\n  /bin/sh "
      "-c 'exec \"$1\" worker --connect \"$2\" --keys \"$3\" --slots \"$4\" \\\n    "
      "--name \"slurm-$SLURM_JOB_ID-$SLURMD_NODENAME\"' \\\n  worker{}\n",
      words);
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
  script += sbatch_line("output", sbatch_pattern(folder) + "/slurm-%j.log");
  script += "#SBATCH --open-mode=append\n";
  script += fmt::format("#SBATCH --nodes={}\n", job.nodes);
  script += "#SBATCH --ntasks-per-node=1\n";
  if (job.gpus_per_node > 0)
    script += fmt::format("#SBATCH --gpus-per-node={}\n", job.gpus_per_node);
  if (job.cpus_per_node > 0)
    script += fmt::format("#SBATCH --cpus-per-task={}\n", job.cpus_per_node);
  script += "#SBATCH --requeue\n"
            "#SBATCH --no-kill\n"
            "#SBATCH --signal=TERM@60\n";
  for (const auto& option : job.options) {
    auto line = read_sbatch_option(option);
    if (!line)
      return tl::unexpected(line.error());
    script += *line;
  }
  return script + command(job);
}

} // namespace clade
