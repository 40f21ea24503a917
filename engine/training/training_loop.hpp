#pragma once

#include "engine/fitness/fitness_function.hpp"
#include "engine/training/network_module.hpp"

#include <functional>

namespace clade {

/// What a training is for and how long it may take.
struct training_task {
  clade::recipe recipe;
  training_key key;
  objective goal; ///< Decides which epoch counts; ties go to the lower validation.loss.
  std::uint32_t epochs = 15;
  std::uint32_t patience = 0; ///< Epochs without a lower validation.loss; 0: no limit.
  std::chrono::steady_clock::time_point deadline =
      std::chrono::steady_clock::time_point::max();
};

struct training_result {
  clade::outcome outcome = clade::outcome::succeeded;
  std::string reason;
  std::vector<epoch> curve;
  std::size_t best = 0; ///< Index into the curve of the epoch that counts.
};

/// Trains with cross entropy or mean squared error, and leaves in `net` the weights of
/// the epoch that counts. Every epoch is reported as it ends, with train.loss and the
/// metrics of `assess` for the validation part. A loss that is no finite number ends the
/// training as diverged. LibTorch's exceptions pass through.
[[nodiscard]] training_result train(network_module& net, const device_data& data,
                                    const training_task& task, progress& p);

/// Examples to predictions: scores of classes, or standardised targets.
using model = std::function<at::Tensor(const at::Tensor&)>;

/// The metrics of metrics.hpp, rmse in the target's own unit; each after `prefix`
/// ("validation."), sorted by name. The loss is that of training without smoothing and,
/// for numbers, in standard deviations.
[[nodiscard]] std::vector<metric> assess(const model& predict, const device_data& data,
                                         const at::Tensor& part, std::string_view prefix);

} // namespace clade
