#include "engine/training/parallel/exchange/exchanging_steps.hpp"
#include "engine/training/parallel/replica/team_steps.hpp"

namespace clade {

std::unique_ptr<training_steps> make_team_steps(network_module& net,
                                                const step_rules& rules,
                                                const distribution_params& how,
                                                team& members, handed_over state,
                                                const bytes& given) {
  switch (how.kind()) {
  case distribution_kind::parameter_server:
  case distribution_kind::peer_to_peer: {
    auto log = decode_updates_log(given);
    TORCH_CHECK(log, log ? "" : log.error().message);
    return make_exchanging_steps(net, rules, how, members, std::move(state),
                                 std::move(*log));
  }
  case distribution_kind::local_sgd:
    return make_local_steps(net, rules, how.average_every, members, std::move(state));
  case distribution_kind::sharded:
    return make_sharded_steps(net, rules, members, std::move(state));
  case distribution_kind::pipeline:
    return make_pipeline_steps(net, rules, how, members, std::move(state));
  default:
    return make_team_replica(net, rules, members, std::move(state));
  }
}

} // namespace clade
