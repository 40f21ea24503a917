#pragma once

#include "tools/queue/clusters/cluster.hpp"

#include <string>
#include <string_view>

namespace clade {

// Jobs of SLURM as entries of a queue: the script of one, and what SLURM's programs say.

/// The script that sbatch is given: a job on one node. Slots are cores of one task
/// (--cpus-per-task), or GPUs (--gres=gpu:N); a priority is --nice, whose larger values
/// are later, and which only operators may set below 0; what it comes after is
/// --dependency=afterok; ranks are tasks of srun. Its log is "slurm-ID.out" in the directory where it was
/// submitted. `invalid_input` for what sbatch cannot be told.
[[nodiscard]] expected<std::string> slurm_entry_script(const cluster_job& job);

/// Entries of lines as `squeue_format` has them.
[[nodiscard]] ordered_json read_squeue(std::string_view text);
inline constexpr const char* squeue_format = "%i|%u|%T|%C|%V|%S|%r|%j";

/// Entries of lines as `sacct_format` has them, with --parsable2 and --noheader.
[[nodiscard]] ordered_json read_sacct(std::string_view text);
inline constexpr const char* sacct_format =
    "JobIDRaw,User,State,AllocCPUS,Submit,Start,End,ExitCode,WorkDir,JobName";

/// Machines of lines as `sinfo_format` has them, with --Node and --noheader.
[[nodiscard]] ordered_json read_sinfo(std::string_view text);
inline constexpr const char* sinfo_format = "%N|%T|%C";

/// The entry of what `scontrol show job` says of one; null where that says of none.
[[nodiscard]] ordered_json read_scontrol(std::string_view text);

} // namespace clade
