#pragma once

#include "actors/messages/protocol.hpp"

#include <memory>

namespace clade {

/// The things that all generators of a run share.
struct generator_setup {
  search_space space;
  clade::problem problem;
  mutation_params mutation;
  std::uint64_t seed = 0;
  std::shared_ptr<zero_cost_scorer> scorer{}; ///< `breeding_rules::scorer`
};

struct generator_state {
  std::shared_ptr<const generator_setup> setup;
};

generator_actor::behavior_type
generator_behavior(generator_actor::stateful_pointer<generator_state> self,
                   std::shared_ptr<const generator_setup> setup);

} // namespace clade
