#include "actors/node/trainer.hpp"

#include "actors/node/fetched_data.hpp"
#include "actors/node/node_progress.hpp"
#include "actors/node/peak_memory.hpp"
#include "genome/codec/codec.hpp"
#include "genome/genes/hash.hpp"

#include <fmt/format.h>

#include <bit>

namespace clade {

namespace {

using namespace std::chrono_literals;
using clock = node_work::clock;

// Results of short evaluations travel together, but are not kept back for longer.
constexpr auto longest_kept = 20ms;

result train(const trainer_state& state, const assignment& a, const training_task& task) {
  const auto id = a.id.candidate;
  const auto invalid = [&](const error& why) {
    evaluation e{.id = id, .outcome = outcome::invalid};
    e.reason = why.message;
    return result_of({std::move(e), {}}, a.lease);
  };
  auto own = job_of(id, task.network);
  if (!own)
    return invalid(own.error());
  auto before = jobs_of(task.network.before);
  if (!before)
    return invalid(before.error());
  own->budget.time = std::chrono::milliseconds(task.time_ms);
  own->keep_weights_above = std::bit_cast<double>(task.keep_weights_above);
  own->budget.threads = task.threads;
  own->fold = {.index = task.fold, .of = task.folds};
  own->keep_checkpoint = static_cast<checkpointing>(task.keep_checkpoint);
  const auto said = own->budget;
  const auto team = state.params.work->team_of(a.lease);
  const peak_memory memory(state.params.work->trains()
                           && measures_memory(state.params.device));
  auto done = evaluate_lineage(std::move(*before), std::move(*own), [&](job j) {
    node_progress p(*state.params.work, state.params.node,
                    {.id = id, .lease = a.lease, .said = said, .own = j.id == id});
    if (j.id == id)
      j.members = team.get();
    return state.params.work->evaluate(id, a.lease, std::move(j), p);
  });
  return result_of(std::move(done), a.lease, memory.bytes());
}

void train_all(const trainer_state& state, const assignments& message) {
  results answer;
  auto last_sent = clock::now();
  for (const auto& a : message.batch) {
    const auto* task = std::get_if<training_task>(&a.what); // The node sends no others.
    if (task != nullptr && !state.params.work->dropped(a.lease))
      answer.batch.push_back(train(state, a, *task));
    state.params.work->forget_dropped(a.lease);
    if (clock::now() - last_sent < longest_kept || answer.batch.empty())
      continue;
    caf::anon_send(state.params.node, std::exchange(answer, {}));
    last_sent = clock::now();
  }
  if (!answer.batch.empty())
    caf::anon_send(state.params.node, std::move(answer));
}

/// Members that differ in any of this would not compute the same.
std::uint64_t checksum_of(const node_welcome& welcome) {
  auto all = welcome.experiment;
  for (const auto& f : welcome.files)
    all += fmt::format("{} {}\n", f.path, f.checksum);
  return hash64(all);
}

expected<team_address> open_to_teams(const trainer_state& state, const experiment& e,
                                     const node_welcome& welcome) {
  if (!e.training.distribution.by_team() || !state.params.open_to_teams)
    return team_address{};
  auto entrance = state.params.open_to_teams(!e.slots.listen.empty());
  if (!entrance)
    return tl::unexpected(std::move(entrance).error());
  (*entrance)->checksum = checksum_of(welcome);
  state.params.work->open_to_teams(*entrance);
  return team_address{.host = state.params.address, .port = (*entrance)->door->port()};
}

expected<team_address> prepare(const trainer_state& state, caf::actor_system& system,
                               const node_welcome& welcome) {
  auto resolved = parse_resolved(welcome.experiment, "the run's experiment");
  if (!resolved)
    return tl::unexpected(std::move(resolved).error());
  if (auto there = have_data(system, state.params.node, welcome.files, resolved->data);
      !there)
    return tl::unexpected(std::move(there).error());
  return state.params.work
      ->prepare(*resolved, state.params.device, welcome.run, state.params.programs)
      .and_then([&] { return open_to_teams(state, *resolved, welcome); });
}

} // namespace

result result_of(evaluated_job done, std::uint64_t lease, std::uint64_t peak_bytes) {
  const auto id = done.evaluation.id;
  if (done.machine_failed)
    return {.id = id,
            .lease = lease,
            .what = task_failure{std::move(done.evaluation.reason)}};
  return {.id = id,
          .lease = lease,
          .what = training_result{.evaluated = encode(record{
                                      candidate_evaluated{std::move(done.evaluation)}}),
                                  .peak_bytes = peak_bytes,
                                  .weights = std::move(done.weights),
                                  .checkpoint = std::move(done.checkpoint)}};
}

expected<job> job_of(candidate_id id, const network_training& network) {
  return decode_genome(network.genome).map([&](genome g) {
    return job{.id = id,
               .genome = std::move(g),
               .budget = {.epochs = network.epochs},
               .start = network.start,
               .start_epoch = network.start_epoch,
               .checkpoint = network.checkpoint};
  });
}

expected<std::vector<job>> jobs_of(const std::vector<ancestor>& before) {
  std::vector<job> jobs;
  for (const auto& a : before) {
    auto decoded = decode_genome(a.genome);
    if (!decoded)
      return tl::unexpected(decoded.error());
    jobs.push_back({.id = a.id,
                    .genome = std::move(*decoded),
                    .budget = {.epochs = a.epochs},
                    .start = a.start,
                    .start_epoch = a.start_epoch});
  }
  return jobs;
}

trainer_actor::behavior_type
trainer_behavior(trainer_actor::stateful_pointer<trainer_state> self,
                 trainer_params params) {
  self->state.params = std::move(params);
  return {
      [self](const node_welcome& welcome) {
        const auto& s = self->state;
        const auto prepared = prepare(s, self->system(), welcome);
        self->send(s.params.node,
                   node_ready{.node = 0,
                              .failure = prepared ? "" : prepared.error().message,
                              .team = prepared.value_or(team_address{}),
                              .rounding = s.params.work->rounding()});
      },
      [self](const assignments& message) { train_all(self->state, message); },
  };
}

} // namespace clade
