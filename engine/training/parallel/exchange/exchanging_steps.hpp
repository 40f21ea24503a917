#pragma once

#include "engine/training/loop/training_steps.hpp"
#include "engine/training/parallel/common/updates_log.hpp"

namespace clade {

/// Makes the steps of a member of a team with servers or peers (distribution.hpp).
/// `given`: the log of the training, if it is made again.
[[nodiscard]] std::unique_ptr<training_steps>
make_exchanging_steps(network_module& net, const step_rules& rules,
                      const distribution_params& how, team& members, handed_over state,
                      updates_log given);

} // namespace clade
