#include "tools/cli/run/plan_sample.hpp"

#include "actors/node/node_work.hpp"
#include "engine/training/asked/fitting.hpp"
#include "tools/cli/base/command.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>

namespace clade {

namespace {

constexpr std::size_t samples = 200;

} // namespace

expected<std::vector<sampled>> sample_networks(const checked_experiment& checked) {
  const experiment& e = checked.experiment;
  std::vector<sampled> networks;
  for (std::uint64_t i = 0; i < samples; ++i) {
    auto made = breed({e.space, checked.problem, e.evolution.mutation, e.seed},
                      {.id = i + 1, .index = i});
    if (!made)
      return tl::unexpected(std::move(made).error());
    const auto decoded = decode(e.space, *made->genome, checked.problem);
    // A fitness that is not trained may have hyperparameters that mean other things.
    const auto role = e.traits().data;
    const bool trains = role == data_role::examples || role == data_role::shape;
    if (!decoded)
      return tl::unexpected(decoded.error());
    const auto trained =
        fit_training(e.training, *decoded,
                     trains ? made->genome->hyperparameters : std::vector<setting>{});
    if (!trained)
      return tl::unexpected(trained.error());
    networks.push_back(
        {.made = std::move(*made),
         .parameters = decoded->cost().parameters,
         .peak_bytes = trained->bytes,
         .devices = e.traits().trains ? trained->distribution.devices : 1});
  }
  std::sort(networks.begin(), networks.end(),
            [](const sampled& a, const sampled& b) { return a.made.work < b.made.work; });
  return networks;
}

std::uint64_t examples_of_trial(std::uint64_t all) {
  constexpr std::uint64_t few = 2'000;
  return all > 2 * few ? few : all;
}

namespace {

/// Adds what an evaluation showed. If one was cut, its first epoch says how long all of
/// it would take.
void add(trial_step& step, const evaluation& e, double work, double& seconds,
         double& all_work) {
  if (e.outcome != outcome::succeeded)
    return;
  seconds += e.reason.empty() ? e.seconds : e.curve.front().seconds;
  all_work += work;
  ++step.networks;
}

} // namespace

expected<trial_step> measure(const checked_experiment& checked, const slot& s,
                             const std::vector<sampled>& networks,
                             std::chrono::milliseconds most) {
  using clock = std::chrono::steady_clock;
  auto e = checked.experiment;
  // The environment is that of the slot's own process; LibTorch reads it when it is
  // loaded.
  enter_environment(s);
  trial_step step{.examples = examples_of_trial(checked.examples)};
  if (step.examples < checked.examples)
    e.data.limit = step.examples;
  auto trainer = load_training(training_module(), training_setup_of(e, s.device));
  if (!trainer)
    return tl::unexpected(std::move(trainer).error());
  if (auto warm = (*trainer)->warm_up(); !warm)
    return tl::unexpected(std::move(warm).error());
  const auto start = clock::now();
  double seconds = 0, work = 0;
  unheard_progress nobody;
  for (std::size_t quartile = 1; quartile <= 3; ++quartile) {
    const auto spent =
        std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - start);
    if (most.count() > 0 && spent >= most)
      break;
    const sampled& n = networks[quartile * networks.size() / 4];
    const job one_epoch{
        .id = n.made.id,
        .genome = *n.made.genome,
        .seed = e.seed,
        .budget = {.epochs = 1,
                   .time = most.count() > 0 ? most - spent : e.limits.evaluation_time}};
    add(step, (*trainer)->evaluate(one_epoch, nobody).evaluation, n.made.work, seconds,
        work);
  }
  if (step.networks == 0)
    return fail(error_kind::internal,
                "none of the networks that were tried could be trained for an epoch"
                    + std::string(most.count() > 0 ? " in the time for it" : ""));
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  step.process_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
  step.seconds_per_work = seconds / work * static_cast<double>(checked.examples)
                          / static_cast<double>(step.examples);
  return step;
}

std::string idle_slots_line(const experiment& e, std::uint64_t open, std::size_t slots) {
  const std::uint64_t each = slots_of_training(e);
  if (open >= trainings_at_once(e, slots) && slots % each == 0)
    return {};
  const auto idle = slots - std::min<std::uint64_t>(slots, open * each);
  const auto text = fmt::format("only {} candidates are in training at once, so {} of {} "
                                "slots have nothing to do; ",
                                open, idle, slots);
  if (open >= trainings_at_once(e, slots))
    return fmt::format("{}training.devices = {} leaves them over", text, each);
  const bool steady = open < e.evolution.population;
  return fmt::format("{}raise evolution.{}", text, steady ? "in_flight" : "population");
}

} // namespace clade
