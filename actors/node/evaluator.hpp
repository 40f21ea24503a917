#pragma once

#include "actors/messages/protocol.hpp"
#include "actors/node/node_work.hpp"

#include <memory>

namespace clade {

struct evaluator_params {
  std::shared_ptr<node_work> work;
  node_actor node; ///< The node whose evaluator it is.
};

struct evaluator_state {
  evaluator_params params;
};

/// Tests what is assigned on held-out data and sends results. Spawn it detached: it
/// blocks.
evaluator_actor::behavior_type
evaluator_behavior(evaluator_actor::stateful_pointer<evaluator_state> self,
                   evaluator_params params);

} // namespace clade
