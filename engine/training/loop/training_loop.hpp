#pragma once

#include "engine/evaluation/fitness_function.hpp"
#include "engine/training/loop/training_pace.hpp"
#include "engine/training/loop/training_steps.hpp"
#include "engine/training/metrics/metrics.hpp"
#include "engine/training/weights/checkpoint.hpp"
#include "engine/training/weights/position_files.hpp"

#include <functional>

namespace clade {

/// The goal of a training and the time that it may take.
struct training_task {
  clade::recipe recipe;
  training_key key;
  objective goal; ///< Decides which epoch counts; ties go to the lower validation.loss.
  std::uint32_t epochs = 15; ///< In all, with those before it goes on.
  /// The epochs that the schedule of learning rates is laid over; see `budget::horizon`.
  std::uint32_t horizon = 0;
  std::uint32_t first_epoch = 1; ///< The first epoch of a training that does not go on.
  std::uint32_t patience = 0;    ///< Epochs without a lower validation.loss; 0: no limit.
  /// The precision of forward passes.
  clade::float_format precision = clade::float_format::float32;
  asked_metrics asked{}; ///< The metrics that epochs have beside the usual ones.
  std::chrono::steady_clock::time_point deadline =
      std::chrono::steady_clock::time_point::max();
  /// Whether its rates follow the clock where its epochs do not fit into the time until the
  /// deadline (training_pace.hpp).
  bool follows_clock = false;
  /// The log of a training that is to be made again; such a one has no clock.
  bytes pace{};
  /// Whether the result is to say where the training stands.
  bool keep_position = false;
  /// Makes its steps, on one device or on several.
  make_steps steps = one_device_steps;
  /// The files in which positions are kept, if anywhere, and how often.
  position_files* files = nullptr;
  std::chrono::milliseconds keep_every{60'000};
};

struct training_result {
  clade::outcome outcome = clade::outcome::succeeded;
  std::string reason;       ///< Why it failed, or was cut by its deadline.
  std::vector<epoch> curve; ///< The curve of this training's own epochs.
  std::vector<metric> best; ///< The metrics of the epoch that counts.
  /// The position, if it was asked for and the training succeeded.
  std::optional<training_position> position;
  bytes updates{}; ///< The updates, as in `evaluation`; empty if timing decides nothing.
};

/// A training to go on with, of the same network: its checkpoint with a position.
struct resumption {
  const std::vector<weight_tensor>& weights; ///< The weights of the epoch that counts.
  const training_position& position;
};

/// Trains by `training_loss`, and leaves in `net` the weights of the epoch that counts.
/// Every epoch is reported as it ends, with train.loss, the metrics of `assess` for the
/// validation part, and what is asked for. A loss that is no finite number ends the
/// training as diverged. One that follows the clock is complete in time, and its last epoch
/// may be a part of one. Else its deadline cuts it: the best of its epochs counts, or what
/// it had learnt by then in the first, if that was a tenth of it or more; unless the result
/// was to say where it stands, or a team does it. LibTorch's exceptions pass through. One
/// that goes on gives, bit for bit, what it would give had it never stopped; where the
/// recipe has another optimiser, that one starts anew. An error of kind corrupt if what
/// it is to go on with is of another network.
[[nodiscard]] expected<training_result>
train(network_module& net, const device_data& data, const training_task& task,
      progress& p, const std::optional<resumption>& from = std::nullopt);

} // namespace clade
