#pragma once

#include "actors/messages/protocol.hpp"
#include "actors/node/node_work.hpp"

#include <memory>

namespace clade {

struct evaluator_state {
  std::shared_ptr<node_work> work;
};

/// Tests candidates on held-out data. Spawn it detached: it blocks.
evaluator_actor::behavior_type
evaluator_behavior(evaluator_actor::stateful_pointer<evaluator_state> self,
                   std::shared_ptr<node_work> work);

} // namespace clade
