#pragma once

#include "engine/evaluation/fitness_function.hpp"
#include "engine/training/asked/recipe.hpp"
#include "engine/training/asked/training_params.hpp"
#include "engine/training/loop/training_loop.hpp"
#include "engine/training/metrics/metrics.hpp"
#include "engine/training/network/device_data.hpp"
#include "search_spaces/operators/network.hpp"

#include <memory>
#include <optional>

namespace clade {

/// A genome made ready for training.
struct training_plan {
  clade::network network;
  clade::recipe recipe;
  distribution_params distribution;
};

/// Returns when a budget that begins now is spent.
[[nodiscard]] std::chrono::steady_clock::time_point deadline_of(const budget& b);

/// Holds what all trainings of one setup in one process share: the settings of LibTorch and
/// the data on the device. LibTorch's exceptions pass through.
class training_context {
public:
  training_context(training_setup setup, int threads);

  /// LibTorch keeps its settings for the process or the thread; this object is used by one
  /// thread at a time, but not always by the one that made it. Call it before the others.
  /// Until the next call at least so many threads share what this one computes.
  void prepare_thread(std::uint32_t least_threads = 1) const;

  /// The part of it that is the thread's, for those that work for the one that trains.
  void prepare_helper(std::uint32_t least_threads = 1) const;

  /// Opens the examples the first time that it is called, and moves them to the device.
  [[nodiscard]] expected<void> load();

  [[nodiscard]] const training_setup& setup() const { return setup_; }
  [[nodiscard]] const asked_metrics& asked() const { return asked_; }

  /// The rest is for after `load`.
  [[nodiscard]] const device_data& data() const { return on_device_; }
  [[nodiscard]] clade::problem problem() const {
    return source_->description().as_problem();
  }
  [[nodiscard]] expected<training_plan> plan_for(const genome& g) const;

  /// Makes a network that is to load weights, as the setup has its trainings.
  [[nodiscard]] std::unique_ptr<network_module>
  make_network(const network& n, const training_key& key) const;

  /// The same for a training from new weights: layers observe the examples of the training
  /// part for their constants, which loading would replace.
  [[nodiscard]] std::unique_ptr<network_module>
  make_untrained(const network& n, const training_key& key) const;

  /// Trains the candidate of job `j` as its budget says and leaves the network in `net`.
  /// A job that has a checkpoint either goes on with that training or takes over its
  /// weights, which the network decides: one that is equal to the checkpoint's goes on,
  /// with the random streams of the candidate that began.
  [[nodiscard]] expected<training_result>
  train_planned(const job& j, const training_plan& p, progress& heard,
                std::unique_ptr<network_module>& net) const;

private:
  [[nodiscard]] expected<training_result>
  train_from_start(const job& j, const training_plan& p, training_task& task,
                   progress& heard, std::unique_ptr<network_module>& net) const;
  [[nodiscard]] expected<training_result>
  train_shared(network_module& net, const training_plan& p, const device_data& data,
               const training_task& task, const job& j, progress& heard,
               const std::optional<resumption>& from = std::nullopt) const;
  [[nodiscard]] training_task task_for(const job& j, const training_plan& p) const;

  training_setup setup_;
  int threads_;
  asked_metrics asked_;
  std::shared_ptr<const example_source> source_;
  device_data on_device_;
};

} // namespace clade
