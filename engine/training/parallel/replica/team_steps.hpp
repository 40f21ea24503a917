#pragma once

#include "engine/training/loop/training_steps.hpp"

namespace clade {

/// The steps of one member of a team, by the distribution: all have the whole network and
/// take each step together (team_steps.cpp) or average it now and then (local_steps.cpp),
/// its state is divided (sharded_steps.cpp), or its layers
/// (pipeline_steps.cpp); servers and peers are in exchanging_steps.hpp.
[[nodiscard]] std::unique_ptr<training_steps> make_team_replica(network_module& net,
                                                                const step_rules& rules,
                                                                team& members,
                                                                handed_over state);
[[nodiscard]] std::unique_ptr<training_steps>
make_local_steps(network_module& net, const step_rules& rules,
                 std::uint32_t average_every, team& members, handed_over state);
[[nodiscard]] std::unique_ptr<training_steps> make_sharded_steps(network_module& net,
                                                                 const step_rules& rules,
                                                                 team& members,
                                                                 handed_over state);
[[nodiscard]] std::unique_ptr<training_steps>
make_pipeline_steps(network_module& net, const step_rules& rules,
                    const distribution_params& how, team& members, handed_over state);

} // namespace clade
