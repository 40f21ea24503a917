#include "engine/training/final/training_context.hpp"

#include "engine/collectives/lone_team.hpp"
#include "engine/data/source/open_source.hpp"
#include "engine/training/asked/fitting.hpp"
#include "engine/training/asked/private_network.hpp"
#include "engine/training/network/data_folds.hpp"
#include "engine/training/parallel/common/distributed_training.hpp"
#include "engine/training/parallel/common/gloo_links.hpp"
#include "engine/training/weights/inheritance.hpp"
#include "engine/training/weights/position_files.hpp"
#include "genome/genes/hash.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <numeric>

namespace clade {

namespace {

// Layers see so many examples before training, to fit their constants.
constexpr std::int64_t most_observed = 10'000;

/// Tells apart trainings of one run that differ in anything.
std::uint64_t name_of(const job& j) {
  encoder all;
  all.encode(j.genome).natural(j.id).natural(j.seed).natural(j.budget.epochs);
  all.natural(j.budget.horizon).natural(j.start).natural(j.start_epoch);
  all.natural(j.fold.index).natural(j.fold.of);
  return hash64(all.take());
}

// The normalisations of a single example have no variance.
expected<void> check_division(const network_module& net, const device_data& data,
                              const training_task& task, const distribution_params& how) {
  const auto all = data.train.size(0);
  const auto batch = all / ((all + task.recipe.batch_size - 1) / task.recipe.batch_size);
  const bool pipeline = !how.row().data_parallel;
  if (pipeline && how.devices > net.layers())
    return fail(
        error_kind::invalid_input,
        fmt::format("training.devices = {} is more than a pipeline of this network can "
                    "have, whose layers are {}: at most one device for each",
                    how.devices, net.layers()));
  if (pipeline && batch < 2 * static_cast<std::int64_t>(how.micro_batches))
    return fail(error_kind::invalid_input,
                fmt::format("batches of {} examples are too small for {} micro-batches "
                            "of at least two; training.micro_batches = {} fits",
                            batch, how.micro_batches,
                            std::max<std::int64_t>(1, batch / 2)));
  if (!pipeline && batch < 2 * static_cast<std::int64_t>(how.shares()))
    return fail(error_kind::invalid_input,
                fmt::format("batches of {} examples are too small for {} devices: each "
                            "is to have at least two of each batch",
                            batch, how.shares()));
  return {};
}

/// Returns the weight of each class; empty where all weigh 1.
expected<std::vector<float>> weights_of_classes(const class_weights& weights,
                                                const device_data& data) {
  if (!data.task.has_classes())
    return weights_by_label(weights, data.classes, {}, {});
  const auto targets = data.targets.index_select(0, data.train).cpu().contiguous();
  const std::span labels(targets.const_data_ptr<std::int64_t>(),
                         static_cast<std::size_t>(targets.numel()));
  std::vector<std::uint32_t> all(labels.size());
  std::iota(all.begin(), all.end(), 0U);
  return weights_by_label(weights, data.classes, labels, all);
}

} // namespace

std::chrono::steady_clock::time_point deadline_of(const budget& b) {
  using std::chrono::steady_clock;
  return b.time.count() > 0 ? steady_clock::now() + b.time
                            : steady_clock::time_point::max();
}

training_context::training_context(training_setup setup, int threads)
    : setup_(std::move(setup)),
      threads_(threads),
      asked_(asked_for(setup_.data.task, setup_.goal, setup_.training.metrics)) {}

void training_context::prepare_helper(std::uint32_t least_threads) const {
  const auto threads = std::max(threads_, static_cast<int>(least_threads));
  if (at::get_num_threads() != threads)
    at::set_num_threads(threads);
  at::Context::setFlushDenormal(true);
}

void training_context::prepare_thread(std::uint32_t least_threads) const {
  prepare_helper(least_threads);
  auto& context = at::globalContext();
  context.setDeterministicAlgorithms(true, /*warn_only=*/false);
  context.setDeterministicFillUninitializedMemory(
      false); // It is all written before it is read.
  context.setDeterministicCuDNN(true);
  context.setBenchmarkCuDNN(false);
}

expected<void> training_context::load() {
  if (source_)
    return {};
  const auto source = open_source(setup_.data, setup_.seed);
  if (!source)
    return tl::unexpected(source.error());
  const auto& examples = (*source)->description();
  const auto& shape = examples.as_problem().input;
  if (const auto wanted = setup_.space.input;
      wanted != layout::vector && shape.layout() != wanted)
    return fail(
        error_kind::invalid_input,
        fmt::format("{} wants {}s, but examples have the shape {}; give data.shape = {}",
                    setup_.space.name, to_text(wanted), to_text(shape),
                    sizes_text(wanted)));
  if (auto known = check_classes(asked_, examples.target.classes); !known)
    return known;
  auto data = to_device(*source, setup_.device);
  if (!data)
    return tl::unexpected(data.error());
  const auto weights = weights_of_classes(setup_.training.class_weights, *data);
  if (!weights)
    return tl::unexpected(weights.error());
  if (!weights->empty())
    data->class_weights = at::tensor(*weights).to(at::Device(setup_.device));
  source_ = *source;
  on_device_ = std::move(*data);
  return {};
}

expected<training_plan> training_context::plan_for(const genome& g) const {
  auto n = decode(setup_.space, g, problem());
  if (!n)
    return tl::unexpected(n.error());
  auto fitted = fit_training(setup_.training, *n, g.hyperparameters);
  if (!fitted)
    return tl::unexpected(fitted.error());
  return training_plan{std::move(*n), fitted->recipe, fitted->distribution};
}

std::unique_ptr<network_module>
training_context::make_network(const network& n, const training_key& key) const {
  auto made = std::make_unique<network_module>(n, key, at::Device(setup_.device));
  if (setup_.training.memory_format == memory_format::channels_last)
    made->use_channels_last();
  return made;
}

std::unique_ptr<network_module>
training_context::make_untrained(const network& n, const training_key& key) const {
  auto made = make_network(n, key);
  if (const auto& part = on_device_.train; made->observes())
    made->observe(on_device_.features.rows(
        part.narrow(0, 0, std::min(part.size(0), most_observed))));
  return made;
}

// A training at the end of the run has a schedule of its own and keeps to it to the last
// epoch.
training_task training_context::task_for(const job& j, const training_plan& p) const {
  const bool at_end = j.fold.of != 0;
  // A training that others go on from, or are compared with epoch by epoch, keeps to its
  // epochs.
  const bool lone =
      p.distribution.devices == 1 && j.start_epoch == 0
      && j.keep_checkpoint == checkpointing::none
      && (at_end || j.budget.horizon == 0 || j.budget.horizon == j.budget.epochs);
  return {.recipe = p.recipe,
          .key = {.seed = j.seed, .id = j.id},
          // A fold is small, on which the loss says more than what is counted; and models
          // are chosen for the ensemble by their loss.
          .goal = at_end ? objective{.metric = "validation.loss", .maximize = false}
                         : of_epochs(setup_.goal),
          .epochs = j.budget.epochs,
          .horizon = at_end ? j.budget.epochs : j.budget.horizon,
          .first_epoch = j.start_epoch + 1,
          .patience = at_end ? 0 : setup_.training.patience,
          .precision = setup_.training.precision,
          .asked = asked_,
          .deadline = deadline_of(j.budget),
          .follows_clock = lone,
          .pace = lone ? j.updates : bytes(),
          .keep_position = j.keep_checkpoint == checkpointing::whole};
}

// Replicas begin with the network's weights.
expected<training_result>
training_context::train_shared(network_module& net, const training_plan& p,
                               const device_data& data, const training_task& task,
                               const job& j, progress& heard,
                               const std::optional<resumption>& from) const {
  const auto& how = p.distribution;
  if (how.devices == 1)
    return train(net, data, task, heard, from);
  if (auto fits = check_division(net, data, task, how); !fits)
    return tl::unexpected(fits.error());
  lone_team alone(how.devices);
  auto* members = j.members == nullptr ? &alone : j.members;
  if (const auto& c = how.collectives; j.members != nullptr && c.by_gloo()) {
    const auto address = own_address_in(c.network);
    if (!address)
      return fail_in("training.collectives", address.error());
    members->carry_by([address = *address](std::unique_ptr<links> met) {
      return make_gloo_links(std::move(met), address);
    });
  }
  replica_team replicas{.others = {}, .prepare_thread = [this] { prepare_helper(); }};
  for (std::uint32_t i = 1; !how.by_team() && i < how.devices; ++i) {
    auto key = task.key;
    key.share = i;
    replicas.others.push_back(make_network(p.network, key));
  }
  auto shared = task;
  shared.steps = [&](network_module& own, const step_rules& rules, handed_over state) {
    return std::ranges::find(distributed_steps, how.name, &steps_row::name)
        ->make({.net = own,
                .rules = rules,
                .how = how,
                .members = members,
                .replicas = &replicas,
                .state = std::move(state),
                .updates = j.updates});
  };
  return train(net, data, shared, heard, from);
}

expected<training_result>
training_context::train_planned(const job& j, const training_plan& p, progress& heard,
                                std::unique_ptr<network_module>& net) const {
  auto task = task_for(j, p);
  std::optional<position_files> files;
  if (!j.positions.empty())
    task.files = &files.emplace(j.positions, name_of(j));
  task.keep_every = setup_.training.checkpoint_every;
  auto done = train_from_start(j, p, task, heard, net);
  const bool goes_on_later =
      done && done->outcome == outcome::dropped && heard.goes_on_later();
  if (files && !goes_on_later)
    files->remove();
  return done;
}

expected<training_result>
training_context::train_from_start(const job& j, const training_plan& p,
                                   training_task& task, progress& heard,
                                   std::unique_ptr<network_module>& net) const {
  if (j.start_epoch >= j.budget.epochs)
    return fail(error_kind::invalid_input,
                fmt::format("it goes on after epoch {} and is to have {}", j.start_epoch,
                            j.budget.epochs));
  if (j.start == 0) {
    net = make_untrained(p.network, task.key);
    return train_shared(*net, p, data_of_fold(on_device_, j.fold, j.seed), task, j,
                        heard);
  }
  const auto from = j.checkpoint.load().and_then(
      [](const shared_bytes& content) { return decode_checkpoint(*content); });
  if (!from)
    return fail_in(fmt::format("the weights of #{}", j.start), from.error());
  const auto parent = plan_for(from->genome);
  if (!parent)
    return fail_in(fmt::format("the network of #{}", j.start), parent.error());
  if (j.start_epoch > 0 && from->position && parent->network == p.network) {
    task.key.id = from->position->key;
    net = make_network(p.network, task.key);
    return train_shared(
        *net, p, on_device_, task, j, heard,
        resumption{.weights = from->weights, .position = *from->position});
  }
  net = make_untrained(p.network, task.key);
  const auto plan = plan_inheritance(p.network, parent->network, from->weights,
                                     derive(j.seed, purpose::inherit, j.id, 0));
  return net->load(inherit_weights(plan, from->weights, net->weights())).and_then([&] {
    return train_shared(*net, p, on_device_, task, j, heard);
  });
}

} // namespace clade
