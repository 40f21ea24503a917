#include "actors/head/generator.hpp"

namespace clade {

generator_actor::behavior_type
generator_behavior(generator_actor::stateful_pointer<generator_state> self,
                   std::shared_ptr<const generator_setup> setup) {
  self->state.setup = std::move(setup);
  return {[self](const breeding_orders& wanted) -> brood {
    const auto& s = *self->state.setup;
    brood result;
    for (const auto& order : wanted.orders) {
      auto bred = breed({s.space, s.problem, s.mutation, s.seed, s.scorer.get()}, order);
      if (!bred) {
        result.failure = bred.error();
        break;
      }
      result.candidates.push_back(std::move(*bred));
    }
    return result;
  }};
}

} // namespace clade
