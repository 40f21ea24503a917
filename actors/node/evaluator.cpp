#include "actors/node/evaluator.hpp"

#include "actors/node/trainer.hpp"
#include "genome/codec.hpp"

namespace clade {

namespace {

expected<std::optional<examination>> examine_one(node_work& work,
                                                 const examine& request) {
  if (request.genome.empty())
    return work.baseline();
  auto before = jobs_of(request.before);
  if (!before)
    return tl::unexpected(before.error());
  return decode_genome(request.genome).and_then([&](genome g) {
    return work
        .examine({.id = request.id,
                  .genome = std::move(g),
                  .budget = {.epochs = request.epochs},
                  .start = request.start,
                  .start_epoch = request.start_epoch,
                  .checkpoint = request.checkpoint},
                 request.weights, std::move(*before))
        .map([](examination e) { return std::optional{std::move(e)}; });
  });
}

} // namespace

evaluator_actor::behavior_type
evaluator_behavior(evaluator_actor::stateful_pointer<evaluator_state> self,
                   std::shared_ptr<node_work> work) {
  self->state.work = std::move(work);
  return {[self](const examine& request) -> examined {
    auto tested = examine_one(*self->state.work, request);
    if (!tested)
      return {tested.error().message, {}};
    run_finished one;
    if (*tested) {
      (*tested)->subject = request.subject;
      (*tested)->id = request.id;
      one.examinations.push_back(std::move(**tested));
    }
    return {{}, encode(record{std::move(one)})};
  }};
}

} // namespace clade
