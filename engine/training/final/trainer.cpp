#include "engine/training/final/trainer.hpp"

#include "engine/evaluation/costs.hpp"
#include "engine/training/final/composing.hpp"
#include "engine/training/final/examining.hpp"
#include "engine/training/final/failure.hpp"
#include "engine/training/final/training_context.hpp"
#include "engine/training/loop/assessment.hpp"
#include "engine/training/loop/branch_importance.hpp"
#include "engine/training/network/rounding_probes.hpp"
#include "genome/genes/hash.hpp"
#include "search_spaces/operators/variation.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <cstdlib>

// An evaluation: decode, estimate the memory, build, train, keep. A fault of the
// candidate becomes its outcome here, whatever form it arrives in: an error value, a loss
// that is no number, an exception of LibTorch's.

namespace clade {
namespace {

using steady_clock = std::chrono::steady_clock;

// msgpack holds fewer than 2^32 bytes; the rest is for names.
constexpr std::uint64_t most_checkpoint_bytes = (std::uint64_t{1} << 32) - (1 << 24);

std::uint64_t value_bytes(std::span<const weight_tensor> tensors) {
  std::uint64_t size = 0;
  for (const auto& t : tensors)
    size += t.values.size() * sizeof(float);
  return size;
}

class trainer final : public fitness_function {
public:
  trainer(const training_setup& setup, int threads) : context_(setup, threads) {}

  expected<std::uint64_t> warm_up() override;
  evaluated_job evaluate(const job& j, progress& p) override;
  expected<examination> examine(const job& j, const bytes& weights) override;
  expected<std::optional<examination>> baseline(std::uint64_t seed,
                                                const budget& b) override;
  expected<composition> compose(std::span<const trained_member> members,
                                std::uint64_t seed, const budget& b,
                                composition_purpose purpose) override {
    return compose_final_model(context_, members, seed, b, purpose);
  }

private:
  void keep_checkpoint(const job& j, training_result& result,
                       std::vector<weight_tensor> weights, evaluated_job& out) const;
  void train_job(const job& j, progress& p, evaluated_job& out);

  [[nodiscard]] const objective& goal() const { return context_.setup().goal; }

  training_context context_;
};

void trainer::keep_checkpoint(const job& j, training_result& result,
                              std::vector<weight_tensor> weights,
                              evaluated_job& out) const {
  auto size = value_bytes(weights);
  if (const auto& p = result.position)
    size += value_bytes(p->weights) + value_bytes(p->moments) + value_bytes(p->average);
  // If it is larger, there is no checkpoint: a candidate that starts from it trains it
  // again first.
  if (j.keep_checkpoint == checkpointing::none || size > most_checkpoint_bytes)
    return;
  out.checkpoint = encode_checkpoint({.genome = j.genome,
                                      .weights = std::move(weights),
                                      .position = std::move(result.position)});
}

void trainer::train_job(const job& j, progress& p, evaluated_job& out) {
  auto& e = out.evaluation;
  const auto invalid = [&e](const error& cause) {
    e.outcome = outcome::invalid;
    e.reason = cause.message;
  };
  if (auto loaded = context_.load(); !loaded)
    return invalid(loaded.error());
  const auto planned = context_.plan_for(j.genome);
  if (!planned)
    return invalid(planned.error());
  const auto& [net, r, how] = *planned;
  e.parameters = net.cost().parameters;
  // Members of a team have a process each.
  const auto needed =
      training_bytes(net, static_cast<std::uint64_t>(r.batch_size), state_copies(r))
      / (how.by_team() ? how.devices : 1);
  if (j.budget.memory_bytes > 0 && needed > j.budget.memory_bytes) {
    e.outcome = outcome::out_of_memory;
    e.reason = fmt::format("training needs {} MiB of the {} allowed", needed >> 20,
                           j.budget.memory_bytes >> 20);
    return;
  }
  std::unique_ptr<network_module> module;
  auto result = context_.train_planned(j, *planned, p, module);
  if (!result)
    return invalid(result.error());
  e.outcome = result->outcome;
  e.reason = std::move(result->reason);
  e.curve = std::move(result->curve);
  if (const auto& log = result->updates; !log.empty())
    e.updates.emplace(log.begin(), log.end());
  if (e.outcome != outcome::succeeded)
    return;
  e.metrics = result->best;
  add_cost(e, goal(), multiply_adds_metric,
           static_cast<double>(net.cost().multiply_adds));
  if (asks_for(goal(), latency_metric)) {
    module->eval();
    const model predict = [&](const at::Tensor& x) { return module->forward(x); };
    add_cost(e, goal(), latency_metric, latency_milliseconds(predict, context_.data()));
  }
  if (context_.setup().branches)
    e.branches = branch_importances(*module, net, context_.data(), r.batch_size);
  auto tensors = module->weights();
  auto weights = encode_weights(tensors);
  e.weights_hash = hash64(weights);
  keep_checkpoint(j, *result, std::move(tensors), out);
  if (fitness_of(e, goal()).primary > j.keep_weights_above)
    out.weights = std::move(weights);
}

evaluated_job trainer::evaluate(const job& j, progress& p) {
  const auto start = steady_clock::now();
  evaluated_job out;
  out.evaluation.id = j.id;
  try {
    context_.prepare_thread(j.budget.threads);
    train_job(j, p, out);
  } catch (...) {
    auto failed = failure_of_exception();
    out.evaluation.outcome = failed.outcome;
    out.evaluation.reason = std::move(failed.reason);
    out.machine_failed = failed.of_machine;
  }
  // The memory that glibc has kept of this network (training_module.cpp) may not fit the
  // next.
  ::malloc_trim(0);
  out.evaluation.seconds =
      std::chrono::duration<double>(steady_clock::now() - start).count();
  return out;
}

expected<examination> trainer::examine(const job& j, const bytes& weights) {
  return examine_candidate(context_, j, weights);
}

// Convex, so that there is nothing for a seed to decide.
expected<std::optional<examination>> trainer::baseline(std::uint64_t, const budget& b) {
  auto fitted = examine_linear_model(context_, b);
  if (!fitted)
    return tl::unexpected(fitted.error());
  return std::optional(std::move(*fitted));
}

// LibTorch's first steps cost about a second. A few of the space's own networks take
// them, on as few examples as make a batch; what they learn is rounded as all else is.
expected<std::uint64_t> trainer::warm_up() {
  constexpr std::uint64_t networks = 3;
  try {
    context_.prepare_thread();
    if (auto loaded = context_.load(); !loaded)
      return tl::unexpected(loaded.error());
    auto some = context_.data();
    const auto& setup = context_.setup();
    const auto few =
        std::min<std::int64_t>(some.train.size(0), setup.training.batch_size);
    some.train = some.train.narrow(0, 0, few);
    some.validation =
        some.validation.narrow(0, 0, std::min(some.validation.size(0), few));
    running_hash rounding;
    add_rounding_probes(rounding);
    for (std::uint64_t i = 0; i < networks; ++i) {
      auto random = derive(setup.seed, purpose::training, 0, i);
      const auto sampled = sample(setup.space, context_.problem(), random);
      if (!sampled)
        return tl::unexpected(sampled.error());
      const auto planned = context_.plan_for(sampled->child);
      if (!planned)
        return tl::unexpected(planned.error());
      const training_task task{.recipe = planned->recipe,
                               .key = {},
                               .goal = of_epochs(goal()),
                               .epochs = 1,
                               .precision = setup.training.precision};
      const auto module = context_.make_untrained(planned->network, task.key);
      unheard_progress nobody;
      // Whether so short a training succeeds says nothing.
      static_cast<void>(train(*module, some, task, nobody));
      rounding.add(encode_weights(module->weights()));
    }
    return rounding.value();
  } catch (...) {
    return fail(error_kind::io,
                "training does not start: " + failure_of_exception().reason);
  }
}

int threads_from_environment() {
  const char* text = std::getenv("OMP_NUM_THREADS");
  const int threads = text == nullptr ? 0 : std::atoi(text);
  return std::max(1, threads);
}

expected<void> check(const training_setup& setup) {
  if (auto valid = validate(setup.training).and_then([&] {
        return check_device(setup.training, setup.device);
      });
      !valid)
    return valid;
  for (const auto& h : setup.space.rules.hyperparameters)
    if (find_hyperparameter(h.name) == nullptr)
      return fail(error_kind::invalid_input,
                  fmt::format("{}: no training reads the hyperparameter {}",
                              setup.space.name, h.name));
  if (auto known = check_metric_names(setup.data.task, setup.training.metrics); !known)
    return known;
  const auto metrics = epoch_metrics(
      setup.data.task, asked_for(setup.data.task, setup.goal, setup.training.metrics));
  for (const auto& a : aims_of(setup.goal)) {
    if (a.metric == parameters_metric || a.metric == multiply_adds_metric
        || a.metric == latency_metric
        || std::ranges::find(metrics, a.metric) != metrics.end())
      continue;
    return fail(error_kind::invalid_input,
                fmt::format("objective: no metric {}; there are {}", a.metric,
                            part_metric_list(setup.data.task, "validation.")));
  }
  return {};
}

} // namespace

expected<std::unique_ptr<fitness_function>> make_trainer(const training_setup& setup) {
  if (auto valid = check(setup); !valid)
    return tl::unexpected(valid.error());
  try {
    const at::Device device(setup.device);
    // cuBLAS is deterministic only with a workspace of fixed size, and reads this once.
    if (device.is_cuda())
      ::setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/0);
    static_cast<void>(at::empty({1}, at::TensorOptions().device(device)));
  } catch (...) {
    return fail(error_kind::not_found, fmt::format("device {}: {}", setup.device,
                                                   failure_of_exception().reason));
  }
  return std::make_unique<trainer>(setup, threads_from_environment());
}

} // namespace clade
