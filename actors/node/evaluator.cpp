#include "actors/node/evaluator.hpp"

#include "actors/node/node_progress.hpp"
#include "actors/node/trainer.hpp"
#include "genome/codec/codec.hpp"

namespace clade {

namespace {

using tested = expected<std::optional<examination>>;

tested test(const evaluator_params& params, const assignment& a, const test_task& task) {
  auto before = jobs_of(task.network.before);
  if (!before)
    return tl::unexpected(before.error());
  const auto weights = task.weights.load();
  if (!weights)
    return tl::unexpected(weights.error());
  return job_of(a.id.candidate, task.network).and_then([&](job j) {
    node_progress p(*params.work, params.node,
                    {.id = j.id, .lease = a.lease, .said = j.budget});
    return params.work->examine(a.lease, std::move(j), **weights, std::move(*before), p)
        .map([](examination e) { return std::optional{std::move(e)}; });
  });
}

expected<bytes> compose(const evaluator_params& params, const assignment& a,
                        const composition_task& task) {
  return task.members.load()
      .and_then([](const shared_bytes& content) { return decode_members(*content); })
      .and_then([&](const std::vector<trained_member>& members) {
        return params.work->compose(a.lease, members,
                                    {.epochs = 0,
                                     .time = std::chrono::milliseconds(task.time_ms),
                                     .threads = task.threads},
                                    task.interim ? composition_purpose::interim
                                                 : composition_purpose::final_model);
      })
      .map([](const composition& made) { return encode(made); });
}

bytes encoded(std::optional<examination> made, candidate_id id) {
  encoder out;
  if (made) {
    made->id = id;
    encode(out, *made);
  }
  return out.take();
}

result evaluate(const evaluator_params& params, const assignment& a) {
  result done{.id = a.id, .lease = a.lease};
  if (const auto* composition = std::get_if<composition_task>(&a.what)) {
    if (auto composed = compose(params, a, *composition))
      done.what = composition_result{std::move(*composed)};
    else
      done.what = task_failure{composed.error().message};
    return done;
  }
  const auto* task = std::get_if<test_task>(&a.what);
  auto made = task != nullptr ? test(params, a, *task) : params.work->baseline(a.lease);
  if (made)
    done.what = test_result{encoded(std::move(*made), a.id.candidate)};
  else
    done.what = task_failure{made.error().message};
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
        answer.batch.push_back(evaluate(params, a));
      params.work->forget_dropped(a.lease);
      if (!answer.batch.empty())
        self->send(params.node, std::move(answer));
    }
  }};
}

} // namespace clade
