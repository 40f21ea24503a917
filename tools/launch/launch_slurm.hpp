#pragma once

#include "genome/base/error.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace clade {

/// Workers for a run in one job of SLURM: one on each node of the job, which offers the
/// devices that SLURM gave it there. All paths must mean the same on the nodes as here.
struct slurm_job {
  std::string name;             ///< The name that squeue shows.
  std::filesystem::path folder; ///< The run's: working directory and log of the job.
  std::string program;          ///< clade.
  std::string connect;          ///< "login1:7411"
  std::filesystem::path keys;   ///< A worker's bundle.
  std::string slots = "auto";   ///< The slots of each worker.
  std::size_t nodes = 1;
  std::size_t gpus_per_node = 0;
  std::size_t cpus_per_node = 0; ///< 0: what SLURM gives by itself, often one core.
  /// Further options of sbatch, with or without "--": "partition=gpu", "--exclusive".
  /// They win over ours.
  std::vector<std::string> options = {};
};

/// The job's script, which can be submitted again. SLURM may requeue the job; it goes on
/// without a node that is lost; and before its time is used up its workers get SIGTERM,
/// at which they hand back what they have. `invalid_input` for what sbatch cannot be
/// told.
[[nodiscard]] expected<std::string> slurm_script(const slurm_job& job);

} // namespace clade
