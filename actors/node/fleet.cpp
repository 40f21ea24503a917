#include "actors/node/fleet.hpp"

#include "actors/messages/protocol.hpp"
#include "actors/node/trainer.hpp"
#include "actors/transport/link/door.hpp"
#include "actors/transport/link/network_config.hpp"
#include "actors/transport/tls/tls_guard.hpp"
#include "engine/config/experiment/experiment.hpp"
#include "engine/evaluation/synthetic/synthetic.hpp"
#include "genome/codec/codec.hpp"

#include <caf/io/all.hpp>
#include <caf/openssl/all.hpp>
#include <fmt/format.h>

#include <deque>
#include <memory>
#include <mutex>
#include <random>

namespace clade {
namespace {

using namespace std::chrono_literals;

constexpr auto heartbeat_interval = 1s;

/// To itself: it is to begin, or the first of its candidates took its time.
struct time_passed {};

/// The state that all nodes of the process share: the fitness of the run's experiment.
class shared_fitness {
public:
  /// The first to be welcome makes it.
  expected<void> prepare(const std::string& resolved) {
    std::lock_guard lock(mutex_);
    if (fitness_)
      return {};
    auto e = parse_resolved(resolved, "the run's experiment");
    if (!e)
      return tl::unexpected(std::move(e).error());
    const auto* params = params_of<synthetic_params>(*e->evaluator);
    if (params == nullptr)
      return fail(error_kind::invalid_input,
                  "simulated nodes know the synthetic fitness alone");
    seed_ = e->seed;
    duration_ = params->duration;
    epochs_ = params->epochs;
    auto quick = *params;
    quick.duration = 0us;
    fitness_ = make_synthetic({.params = quick,
                               .space = e->space,
                               .problem = e->synthetic_problem,
                               .goal = e->objective});
    return {};
  }

  result evaluate(const assignment& a) {
    const auto* task = std::get_if<training_task>(&a.what);
    if (task == nullptr) // Nothing was trained.
      return {.id = a.id, .lease = a.lease, .what = test_result{}};
    const auto& network = task->network;
    unheard_progress nobody;
    auto decoded = decode_genome(network.genome);
    evaluated_job done{.evaluation = {.id = a.id.candidate, .outcome = outcome::invalid}};
    std::lock_guard lock(mutex_);
    if (decoded)
      done = fitness_->evaluate(
          {.id = a.id.candidate,
           .genome = std::move(*decoded),
           .seed = seed_,
           .budget = {.epochs = network.epochs != 0 ? network.epochs : epochs_},
           .start = network.start,
           .start_epoch = network.start_epoch},
          nobody);
    done.evaluation.seconds = std::chrono::duration<double>(duration_).count();
    return result_of(std::move(done), a.lease);
  }

  [[nodiscard]] std::chrono::microseconds duration() const { return duration_; }

private:
  std::mutex mutex_;
  std::unique_ptr<fitness_function> fitness_;
  std::uint64_t seed_ = 0;
  std::uint32_t epochs_ = 1;
  std::chrono::microseconds duration_{0};
};

using member_actor = link_actor::extend<caf::reacts_to<time_passed>>;

struct member_state {
  member_actor::stateful_pointer<member_state> self = nullptr;
  dispatcher_actor dispatcher;
  std::shared_ptr<shared_fitness> fitness;
  node_hello hello;
  bool begun = false;
  std::uint64_t node = 0;
  std::deque<assignment> waiting;

  void go_on() {
    if (begun)
      return end_first();
    begun = true;
    self->request(dispatcher, caf::infinite, hello, link_actor{self})
        .then([this](const node_welcome& w) { welcome(w); });
  }

  void take(const assignments& message) {
    const bool idle = waiting.empty();
    waiting.insert(waiting.end(), message.batch.begin(), message.batch.end());
    if (idle)
      begin_next();
  }

  void begin_next() {
    if (!waiting.empty())
      self->delayed_send(self, fitness->duration(), time_passed{});
  }

  void end_first() {
    results done{.node = node, .batch = {}};
    done.batch.push_back(fitness->evaluate(waiting.front()));
    waiting.pop_front();
    self->request(dispatcher, caf::infinite, std::move(done)).then([](const taken&) {});
    begin_next();
  }

  void welcome(const node_welcome& message) {
    node = message.node;
    const auto prepared = fitness->prepare(message.experiment);
    self->send(dispatcher, node_ready{.node = node,
                                      .failure = prepared ? "" : prepared.error().message,
                                      .team = {}});
    self->delayed_send(self, heartbeat_interval, tick{});
  }

  void beat() {
    self->request(dispatcher, caf::infinite, heartbeat{node})
        .then([](const heartbeat_answer&) {});
    self->delayed_send(self, heartbeat_interval, tick{});
  }
};

member_actor::behavior_type
member_behavior(member_actor::stateful_pointer<member_state> self,
                dispatcher_actor dispatcher, std::shared_ptr<shared_fitness> fitness,
                node_hello hello, std::chrono::microseconds late) {
  auto& s = self->state;
  s.self = self;
  s.dispatcher = std::move(dispatcher);
  s.fitness = std::move(fitness);
  s.hello = std::move(hello);
  self->delayed_send(self, late, time_passed{});
  return {
      [self](const assignments& message) { self->state.take(message); },
      [](const team_formed&) {},
      [self](const leave&) { self->quit(); },
      [](const node_ready&) {},
      [](const results&) {},
      [](const epoch_passed&) {},
      [](const team_passed&) {},
      [](const leaving&) {},
      [](const fetch_chunk&) {
        return chunk{"a simulated node has no data", {}};
      },
      [](const taken&) {},
      [self](tick) { self->state.beat(); },
      [self](time_passed) { self->state.go_on(); },
  };
}

} // namespace
} // namespace clade

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(clade::time_passed)

namespace clade {

expected<void> run_fleet(const fleet_params& params) {
  network_config config(params.keys, 1);
  caf::actor_system system(config);
  const auto dispatcher = find_dispatcher(system, params.head, params.build, 10s);
  if (!dispatcher)
    return fail(dispatcher.error().kind,
                fmt::format("cannot join the run at {}: {}", to_text(params.head),
                            dispatcher.error().message));
  std::random_device random;
  const auto worker = (std::uint64_t{random()} << 32) | random();
  const auto fitness = std::make_shared<shared_fitness>();
  for (std::size_t i = 0; i < params.nodes; ++i)
    system.spawn(member_behavior, *dispatcher, fitness,
                 node_hello{.slot = fmt::format("{}/sim:{}", params.name, i),
                            .worker = worker,
                            .session = worker + i + 1},
                 // Not in step: no more than real ones would they all end at once.
                 std::chrono::microseconds(1'000'000 * i / params.nodes));
  caf::scoped_actor self(system);
  self->monitor(*dispatcher);
  self->receive([](caf::down_msg&) {});
  shut_connections(params.head.port);
  return {};
}

} // namespace clade
