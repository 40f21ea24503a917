#include "actors/trainer.hpp"

#include "genome/codec.hpp"

#include <bit>

namespace clade {

namespace {

using namespace std::chrono_literals;
using clock = node_work::clock;

// People see epochs pass ten times a second at most, and results are not kept back for
// longer.
constexpr auto report_interval = 100ms;
constexpr auto longest_kept = 20ms;

/// Tells the dispatcher of epochs; ends an evaluation that is over its time.
class dispatcher_progress : public progress {
public:
  dispatcher_progress(const trainer_state& state, candidate_id id)
      : state_(state),
        id_(id),
        start_(clock::now()),
        last_(start_) {}

  bool report(const epoch& e) override {
    const auto now = clock::now();
    if (now - last_ >= report_interval) {
      last_ = now;
      caf::anon_send(state_.params.dispatcher,
                     epoch_passed{.node = state_.node,
                                  .id = id_,
                                  .number = e.number,
                                  .of = state_.params.work->budget().epochs});
    }
    const auto most = state_.params.work->budget().time;
    return most.count() == 0 || now - start_ < most;
  }

private:
  const trainer_state& state_;
  candidate_id id_;
  clock::time_point start_;
  clock::time_point last_;
};

evaluated_job train(const trainer_state& state, const assignment& a) {
  auto decoded = decode_genome(a.genome);
  if (!decoded) {
    evaluation e{.id = a.id, .outcome = outcome::invalid};
    e.reason = decoded.error().message;
    return {std::move(e), {}};
  }
  dispatcher_progress p(state, a.id);
  return state.params.work->evaluate(a.id, a.lease, std::move(*decoded),
                                     std::bit_cast<double>(a.keep_weights_above), p);
}

void train_all(const trainer_state& state, const assignments& message) {
  results answer{.node = state.node, .batch = {}};
  auto last_sent = clock::now();
  for (const auto& a : message.batch) {
    answer.batch.push_back(result_of(train(state, a), a.lease));
    if (clock::now() - last_sent < longest_kept)
      continue;
    caf::anon_send(state.params.dispatcher,
                   std::exchange(answer, {.node = state.node, .batch = {}}));
    last_sent = clock::now();
  }
  if (!answer.batch.empty())
    caf::anon_send(state.params.dispatcher, std::move(answer));
}

std::string prepare(const trainer_state& state, const node_welcome& welcome) {
  auto resolved = parse_resolved(welcome.experiment, "the run's experiment");
  if (!resolved)
    return resolved.error().message;
  auto prepared =
      state.params.work->prepare(*resolved, welcome.module, state.params.device);
  return prepared ? std::string{} : prepared.error().message;
}

} // namespace

result result_of(evaluated_job done, std::uint64_t lease) {
  const auto id = done.evaluation.id;
  return {.id = id,
          .lease = lease,
          .evaluation = encode(record{candidate_evaluated{std::move(done.evaluation)}}),
          .weights = std::move(done.weights)};
}

trainer_actor::behavior_type
trainer_behavior(trainer_actor::stateful_pointer<trainer_state> self,
                 trainer_params params) {
  self->state.params = std::move(params);
  return {
      [self](const node_welcome& welcome) {
        auto& s = self->state;
        s.node = welcome.node;
        self->send(s.params.dispatcher,
                   node_ready{.node = s.node, .failure = prepare(s, welcome)});
      },
      [self](const assignments& message) { train_all(self->state, message); },
  };
}

} // namespace clade
