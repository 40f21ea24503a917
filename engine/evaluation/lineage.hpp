#pragma once

#include "engine/evaluation/fitness_function.hpp"

#include <functional>
#include <vector>

namespace clade {

/// The beginning of a candidate's training: a checkpoint, or, if that is lost, the
/// trainings that give it again. All of it is trained by the experiment that holds for
/// the candidate; a fork takes no checkpoints over, so that what its candidates start
/// from is, always and again, what its own experiment makes of it.
struct lineage {
  /// The start as in `candidate`, in full: a stored candidate lacks the epoch.
  candidate_id start = 0;
  std::uint32_t start_epoch = 0;
  /// To be trained before it, the first one first, each from the one before; their
  /// `start_epoch` is set. None where its own start has a checkpoint.
  std::vector<candidate> before;
  /// The checkpoint that the first of them, or it itself, starts from; empty if that
  /// begins anew.
  blob checkpoint;
};

/// The source in which a lineage is looked up.
struct lineage_source {
  std::function<expected<candidate>(candidate_id)> candidate_of;
  std::function<blob(candidate_id)> checkpoint_of; ///< Empty: it is lost.
};

/// Goes back from one to the other until there is a checkpoint, or one that began anew. A
/// copy stands for its original.
[[nodiscard]] expected<lineage> trace_lineage(const candidate& c,
                                              const lineage_source& from);

/// Returns the job of a candidate that comes before, without seed, budget and
/// checkpoints.
[[nodiscard]] job job_of(const candidate& c);

/// Evaluates what comes before it (all with a whole checkpoint), then the job, each with
/// the checkpoint of the one before. If one of them does not succeed, the job is invalid,
/// and the reason says of whom; if a machine failed, it says so too.
[[nodiscard]] evaluated_job
evaluate_lineage(std::vector<job> before, job last,
                 const std::function<evaluated_job(job)>& evaluate);

} // namespace clade
