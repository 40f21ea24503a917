#pragma once

#include "engine/evaluation/fitness_function.hpp"
#include "engine/scheduling/schedule.hpp"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace clade {

/// How candidates become tasks.
struct candidate_task_rules {
  /// The needs of training a candidate; none: a slot, and next to no memory.
  std::function<task_needs(const candidate&)> needs_of{};
  bool alone = false; ///< Each travels by itself (`task::alone`).
};

/// Returns the trainings of newly born candidates. `lightest_first`: the one with the least
/// work goes before all others, so that there is soon a model to use.
[[nodiscard]] std::vector<task> tasks_of(std::span<const candidate> born,
                                         const candidate_task_rules& rules,
                                         bool lightest_first);

/// Returns which checkpoint the training of a candidate leaves. `others_start`: trainings
/// may start from others. Nothing starts from one that is trained at the end of the run.
[[nodiscard]] checkpointing checkpoint_left_by(const candidate& c, bool others_start);

/// Returns the fitness above which a training sends its weights: `threshold`, or none for
/// one at the end of the run, whose weights are always wanted.
[[nodiscard]] double weights_wanted_above(const candidate& c, double threshold);

/// Returns the evaluation of a candidate that somebody dropped.
[[nodiscard]] evaluation dropped_evaluation(candidate_id id, const std::string& who);

/// Returns the evaluation of a candidate that needs more memory, `size` in words, than any
/// slot has.
[[nodiscard]] evaluation refused_evaluation(candidate_id id, const std::string& size);

/// Returns the evaluation of a candidate that is given up. The last node process that ended
/// by it was of `slot`; `how` it ended.
[[nodiscard]] evaluation crashed_evaluation(const lost_lease& lost,
                                            const std::string& slot,
                                            const std::string& how);

/// Returns those of the candidates that only nodes elsewhere have: `is_here` holds for none
/// of the nodes, and there is one.
[[nodiscard]] std::vector<candidate_id>
only_elsewhere(std::span<const candidate_id> open, const schedule& schedule,
               const std::function<bool(node_id)>& is_here);

} // namespace clade
