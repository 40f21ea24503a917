#include "actors/node/evaluator.hpp"

#include "actors/node/node_progress.hpp"
#include "actors/node/trainer.hpp"
#include "genome/codec/codec.hpp"

namespace clade {

namespace {

expected<std::optional<examination>> test_network(const evaluator_params& params,
                                                  const assignment& a) {
  auto before = jobs_of(a.before);
  if (!before)
    return tl::unexpected(before.error());
  const auto weights = a.weights.load();
  if (!weights)
    return tl::unexpected(weights.error());
  return decode_genome(a.genome).and_then([&](genome g) {
    node_progress p(*params.work, params.node, a, false);
    return params.work
        ->examine(a.lease,
                  {.id = a.id.candidate,
                   .genome = std::move(g),
                   .budget = {.epochs = a.epochs},
                   .start = a.start,
                   .start_epoch = a.start_epoch,
                   .checkpoint = a.checkpoint},
                  **weights, std::move(*before), p)
        .map([](examination e) { return std::optional{std::move(e)}; });
  });
}

result compose(const evaluator_params& params, const assignment& a) {
  result done{.id = a.id, .lease = a.lease};
  const auto composed =
      a.weights.load()
          .and_then([](const shared_bytes& content) { return decode_members(*content); })
          .and_then([&](const std::vector<trained_member>& members) {
            return params.work->compose(
                a.lease, members,
                {.epochs = 0, .time = std::chrono::milliseconds(a.time_ms)});
          });
  if (composed)
    done.done = encode(*composed);
  else
    done.failure = composed.error().message;
  return done;
}

result test(const evaluator_params& params, const assignment& a) {
  if (a.id.type == task_type::compose)
    return compose(params, a);
  result done{.id = a.id, .lease = a.lease};
  auto tested =
      a.genome.empty() ? params.work->baseline(a.lease) : test_network(params, a);
  if (!tested) {
    done.failure = tested.error().message;
  } else if (*tested) {
    (*tested)->id = a.id.candidate;
    encoder out;
    encode(out, **tested);
    done.done = out.take();
  }
  return done;
}

} // namespace

evaluator_actor::behavior_type
evaluator_behavior(evaluator_actor::stateful_pointer<evaluator_state> self,
                   evaluator_params params) {
  self->state.params = std::move(params);
  return {[self](const assignments& message) {
    const auto& params = self->state.params;
    for (const auto& a : message.batch) {
      results answer;
      if (!params.work->dropped(a.lease))
        answer.batch.push_back(test(params, a));
      params.work->forget_dropped(a.lease);
      if (!answer.batch.empty())
        self->send(params.node, std::move(answer));
    }
  }};
}

} // namespace clade
