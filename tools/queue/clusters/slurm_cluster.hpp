#pragma once

#include "tools/queue/clusters/cluster.hpp"

namespace clade {

/// A job of SLURM is an entry (slurm_jobs.hpp), asked for by sbatch, squeue, scontrol,
/// scancel and, where the cluster has accounting, sacct.
[[nodiscard]] std::unique_ptr<cluster> open_slurm();

} // namespace clade
