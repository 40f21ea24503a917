#include "engine/training/trainer.hpp"

#include "engine/evaluation/costs.hpp"
#include "engine/training/assessment.hpp"
#include "engine/training/inheritance.hpp"
#include "engine/training/linear_model.hpp"
#include "engine/training/metrics.hpp"
#include "engine/training/training_loop.hpp"
#include "genome/hash.hpp"
#include "search_spaces/variation.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>
#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <new>

// An evaluation: decode, estimate the memory, build, train, keep. What goes wrong with
// the candidate becomes its outcome here, whatever form it arrives in: an error value, a
// loss that is no number, an exception of LibTorch's. Only a failure of the accelerator
// itself ends the process: its context is of no more use to any candidate, and the
// supervisor starts a new one.

namespace clade {
namespace {

using steady_clock = std::chrono::steady_clock;

steady_clock::time_point deadline_of(const budget& b) {
  return b.time.count() > 0 ? steady_clock::now() + b.time
                            : steady_clock::time_point::max();
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

struct failure {
  clade::outcome outcome = outcome::invalid;
  std::string reason;
};

// For `catch (...)`: what the exception under way says about the candidate.
failure failure_of_exception() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return {outcome::out_of_memory, "the memory ran out"};
  } catch (const c10::OutOfMemoryError& e) {
    return {outcome::out_of_memory, first_line(e.what_without_backtrace())};
  } catch (const c10::AcceleratorError& e) {
    std::fprintf(stderr, "%s\n", first_line(e.what_without_backtrace()).c_str());
    std::abort();
  } catch (const c10::Error& e) {
    const std::string what = first_line(e.what_without_backtrace());
    const bool memory = what.find("can't allocate memory") != std::string::npos
                        || what.find("not enough memory") != std::string::npos;
    return {memory ? outcome::out_of_memory : outcome::invalid, what};
  } catch (const std::exception& e) {
    return {outcome::invalid, first_line(e.what())};
  } catch (...) {
    return {outcome::invalid, "an exception of unknown type"};
  }
}

// The median of some passes of one example, from the device's memory to the result in
// the machine's, after some that warm up.
double latency_milliseconds(network_module& net, const at::Tensor& features) {
  constexpr int warming = 3, measured = 15;
  const c10::InferenceMode inference;
  net.eval();
  const auto example = features.narrow(0, 0, 1);
  std::vector<double> times;
  for (int i = 0; i < warming + measured; ++i) {
    const auto start = steady_clock::now();
    static_cast<void>(net.forward(example).cpu());
    const std::chrono::duration<double, std::milli> took = steady_clock::now() - start;
    if (i >= warming)
      times.push_back(took.count());
  }
  std::ranges::nth_element(times, times.begin() + measured / 2);
  return times[measured / 2];
}

// msgpack holds fewer than 2^32 bytes; the rest is for names.
constexpr std::uint64_t most_checkpoint_bytes = (std::uint64_t{1} << 32) - (1 << 24);

std::uint64_t value_bytes(std::span<const weight_tensor> tensors) {
  std::uint64_t size = 0;
  for (const auto& t : tensors)
    size += t.values.size() * sizeof(float);
  return size;
}

// A genome made ready.
struct plan {
  clade::network network;
  clade::recipe recipe;
};

class trainer final : public fitness_function {
public:
  explicit trainer(training_setup setup, int threads)
      : setup_(std::move(setup)),
        threads_(threads),
        asked_(asked_for(setup_.data.task, setup_.goal, setup_.training.metrics)) {}

  expected<void> warm_up() override;
  evaluated_job evaluate(const job& j, progress& p) override;
  expected<examination> examine(const job& j, const bytes& weights) override;
  expected<std::optional<examination>> baseline(std::uint64_t seed,
                                                const budget& b) override;

private:
  void prepare_thread() const;
  expected<void> load();
  expected<plan> plan_for(const genome& g) const;
  training_task task_for(const job& j, const plan& p) const;
  std::unique_ptr<network_module> built(const network& n, const training_key& key) const;
  expected<training_result> train_planned(const job& j, const plan& p, progress& heard,
                                          std::unique_ptr<network_module>& net) const;
  void keep_checkpoint(const job& j, training_result& result,
                       std::vector<weight_tensor> weights, evaluated_job& out) const;
  void train_job(const job& j, progress& p, evaluated_job& out);

  training_setup setup_;
  int threads_;
  asked_metrics asked_;
  std::optional<data_set> data_;
  device_data on_device_; ///< Shares memory with data_.
};

// LibTorch keeps these for the process or the thread; this object is used by one at a
// time, but not always the one that made it.
void trainer::prepare_thread() const {
  if (at::get_num_threads() != threads_)
    at::set_num_threads(threads_);
  at::Context::setFlushDenormal(true);
  auto& context = at::globalContext();
  context.setDeterministicAlgorithms(true, /*warn_only=*/false);
  context.setDeterministicFillUninitializedMemory(
      false); // It is all written before it is read.
  context.setDeterministicCuDNN(true);
  context.setBenchmarkCuDNN(false);
}

expected<void> trainer::load() {
  if (data_)
    return {};
  auto loaded = load_data(setup_.data, setup_.seed);
  if (!loaded)
    return tl::unexpected(loaded.error());
  if (const auto wanted = setup_.space.input;
      wanted != layout::vector && loaded->shape.layout() != wanted)
    return fail(error_kind::invalid_input,
                setup_.space.name + " wants " + std::string(to_text(wanted))
                    + "s, but examples have the shape " + to_text(loaded->shape)
                    + "; give data.shape = " + std::string(sizes_text(wanted)));
  const auto weights = check_classes(asked_, loaded->classes).and_then([&] {
    return weights_by_label(setup_.training.class_weights, loaded->classes,
                            loaded->labels, loaded->train);
  });
  if (!weights)
    return tl::unexpected(weights.error());
  data_ = std::move(*loaded);
  on_device_ = to_device(*data_, setup_.device);
  if (!weights->empty())
    on_device_.class_weights = at::tensor(*weights).to(at::Device(setup_.device));
  return {};
}

expected<plan> trainer::plan_for(const genome& g) const {
  auto r = recipe_of(setup_.training, g.hyperparameters);
  if (!r)
    return tl::unexpected(r.error());
  auto n = decode(setup_.space, g, data_->as_problem());
  if (!n)
    return tl::unexpected(n.error());
  return plan{std::move(*n), *r};
}

training_task trainer::task_for(const job& j, const plan& p) const {
  return {.recipe = p.recipe,
          .key = {.seed = j.seed, .id = j.id},
          .goal = of_epochs(setup_.goal),
          .epochs = j.budget.epochs,
          .horizon = j.budget.horizon,
          .first_epoch = j.start_epoch + 1,
          .patience = setup_.training.patience,
          .asked = asked_,
          .deadline = deadline_of(j.budget),
          .keep_position = j.keep_checkpoint == checkpointing::whole};
}

// An untrained network, with the constants that it takes from the training part.
std::unique_ptr<network_module> trainer::built(const network& n,
                                               const training_key& key) const {
  constexpr std::int64_t most_observed = 10'000;
  auto net = std::make_unique<network_module>(n, key, at::Device(setup_.device));
  const auto& part = on_device_.train;
  if (net->observes())
    net->observe(on_device_.features.index_select(
        0, part.narrow(0, 0, std::min(part.size(0), most_observed))));
  return net;
}

// Whether it goes on or takes over weights, the other's network decides: one that is
// equal goes on, with the streams of the candidate that began.
expected<training_result>
trainer::train_planned(const job& j, const plan& p, progress& heard,
                       std::unique_ptr<network_module>& net) const {
  auto task = task_for(j, p);
  if (j.start_epoch >= j.budget.epochs)
    return fail(error_kind::invalid_input,
                "it goes on after epoch " + std::to_string(j.start_epoch)
                    + " and is to have " + std::to_string(j.budget.epochs));
  if (j.start == 0) {
    net = built(p.network, task.key);
    return train(*net, on_device_, task, heard);
  }
  const auto from = j.checkpoint.load().and_then(
      [](const shared_bytes& content) { return decode_checkpoint(*content); });
  if (!from)
    return fail_in("the weights of #" + std::to_string(j.start), from.error());
  const auto parent = plan_for(from->genome);
  if (!parent)
    return fail_in("the network of #" + std::to_string(j.start), parent.error());
  if (j.start_epoch > 0 && from->position && parent->network == p.network) {
    task.key.id = from->position->key;
    net = built(p.network, task.key);
    return train(*net, on_device_, task, heard,
                 resumption{.weights = from->weights, .position = *from->position});
  }
  net = built(p.network, task.key);
  const auto plan = plan_inheritance(p.network, parent->network, from->weights,
                                     derive(j.seed, purpose::inherit, j.id, 0));
  return net->load(inherit_weights(plan, from->weights, net->weights())).and_then([&] {
    return train(*net, on_device_, task, heard);
  });
}

void trainer::keep_checkpoint(const job& j, training_result& result,
                              std::vector<weight_tensor> weights,
                              evaluated_job& out) const {
  auto size = value_bytes(weights);
  if (const auto& p = result.position)
    size += value_bytes(p->weights) + value_bytes(p->moments);
  // Of a larger one there is no checkpoint: what starts from it trains it again first.
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
  if (auto loaded = load(); !loaded)
    return invalid(loaded.error());
  const auto planned = plan_for(j.genome);
  if (!planned)
    return invalid(planned.error());
  const auto& [net, r] = *planned;
  e.parameters = net.cost().parameters;
  const auto needed =
      training_bytes(net, static_cast<std::uint64_t>(r.batch_size), state_copies(r));
  if (j.budget.memory_bytes > 0 && needed > j.budget.memory_bytes) {
    e.outcome = outcome::out_of_memory;
    e.reason = "training needs " + std::to_string(needed >> 20) + " MiB of the "
               + std::to_string(j.budget.memory_bytes >> 20) + " allowed";
    return;
  }
  std::unique_ptr<network_module> module;
  auto result = train_planned(j, *planned, p, module);
  if (!result)
    return invalid(result.error());
  e.outcome = result->outcome;
  e.reason = std::move(result->reason);
  e.curve = std::move(result->curve);
  if (e.outcome != outcome::succeeded)
    return;
  e.metrics = result->best;
  add_cost(e, setup_.goal, multiply_adds_metric,
           static_cast<double>(net.cost().multiply_adds));
  if (asks_for(setup_.goal, latency_metric))
    add_cost(e, setup_.goal, latency_metric,
             latency_milliseconds(*module, on_device_.features));
  auto tensors = module->weights();
  auto weights = encode_weights(tensors);
  e.weights_hash = hash64(weights);
  keep_checkpoint(j, *result, std::move(tensors), out);
  if (fitness_of(e, setup_.goal).primary > j.keep_weights_above)
    out.weights = std::move(weights);
}

evaluated_job trainer::evaluate(const job& j, progress& p) {
  const auto start = steady_clock::now();
  evaluated_job out;
  out.evaluation.id = j.id;
  try {
    prepare_thread();
    train_job(j, p, out);
  } catch (...) {
    auto [what, reason] = failure_of_exception();
    out.evaluation.outcome = what;
    out.evaluation.reason = std::move(reason);
  }
  // What glibc has kept of this network (training_module.cpp) may not fit the next.
  ::malloc_trim(0);
  out.evaluation.seconds =
      std::chrono::duration<double>(steady_clock::now() - start).count();
  return out;
}

expected<examination> trainer::examine(const job& j, const bytes& weights) {
  try {
    prepare_thread();
    if (auto loaded = load(); !loaded)
      return tl::unexpected(loaded.error());
    const auto planned = plan_for(j.genome);
    if (!planned)
      return tl::unexpected(planned.error());
    std::unique_ptr<network_module> module;
    if (weights.empty()) {
      unheard_progress nobody;
      auto r = train_planned(j, *planned, nobody, module);
      if (!r)
        return tl::unexpected(r.error());
      if (r->outcome != outcome::succeeded)
        return fail(error_kind::io, "candidate " + std::to_string(j.id)
                                        + ", trained again, " + to_text(r->outcome) + ": "
                                        + r->reason);
    } else {
      const training_key key{.seed = j.seed, .id = j.id};
      module = std::make_unique<network_module>(planned->network, key,
                                                at::Device(setup_.device));
      const auto decoded = decode_weights(weights);
      if (!decoded)
        return tl::unexpected(decoded.error());
      if (auto loaded = module->load(*decoded); !loaded)
        return tl::unexpected(loaded.error());
    }
    module->eval();
    examination out;
    out.id = j.id;
    const model predict = [&module](const at::Tensor& x) { return module->forward(x); };
    out.metrics =
        assess(predict, on_device_, on_device_.test, "test.", asked_.validation);
    out.details = std::make_shared<const test_details>(
        details_of(predict, on_device_, of_epochs(setup_.goal).metric));
    out.parameters = planned->network.cost().parameters;
    return out;
  } catch (...) {
    return fail(error_kind::io, "examining candidate " + std::to_string(j.id) + ": "
                                    + failure_of_exception().reason);
  }
}

// Convex, so that there is nothing for a seed to decide.
expected<std::optional<examination>> trainer::baseline(std::uint64_t, const budget& b) {
  try {
    prepare_thread();
    if (auto loaded = load(); !loaded)
      return tl::unexpected(loaded.error());
    auto fitted = fit_linear_model(on_device_, data_->as_problem().outputs,
                                   deadline_of(b), asked_.validation);
    if (!fitted)
      return tl::unexpected(fitted.error());
    return std::optional(std::move(*fitted));
  } catch (...) {
    return fail(error_kind::io, "the linear model: " + failure_of_exception().reason);
  }
}

// LibTorch's first steps cost about a second. A few of the space's own networks take
// them, on as few examples as make a batch.
expected<void> trainer::warm_up() {
  constexpr std::uint64_t networks = 3;
  try {
    prepare_thread();
    if (auto loaded = load(); !loaded)
      return loaded;
    auto some = on_device_;
    const auto few =
        std::min<std::int64_t>(some.train.size(0), setup_.training.batch_size);
    some.train = some.train.narrow(0, 0, few);
    for (std::uint64_t i = 0; i < networks; ++i) {
      auto random = derive(setup_.seed, purpose::training, 0, i);
      const auto sampled = sample(setup_.space, data_->as_problem(), random);
      if (!sampled)
        return tl::unexpected(sampled.error());
      const auto planned = plan_for(sampled->child);
      if (!planned)
        return tl::unexpected(planned.error());
      const training_task task{.recipe = planned->recipe,
                               .key = {},
                               .goal = of_epochs(setup_.goal),
                               .epochs = 1};
      network_module module(planned->network, task.key, at::Device(setup_.device));
      unheard_progress nobody;
      // Whether so short a training succeeds says nothing.
      static_cast<void>(train(module, some, task, nobody));
    }
    return {};
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
  if (auto valid = validate(setup.training); !valid)
    return valid;
  for (const auto& h : setup.space.rules.hyperparameters)
    if (find_hyperparameter(h.name) == nullptr)
      return fail(error_kind::invalid_input,
                  setup.space.name + ": no training reads the hyperparameter " + h.name);
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
                "objective: no metric " + a.metric + "; there are "
                    + part_metric_list(setup.data.task, "validation."));
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
    return fail(error_kind::not_found,
                "device " + setup.device + ": " + failure_of_exception().reason);
  }
  return std::make_unique<trainer>(setup, threads_from_environment());
}

} // namespace clade
