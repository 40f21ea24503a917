#pragma once

#include "engine/training/baselines/booster.hpp"
#include "engine/training/network/device_data.hpp"
#include "engine/training/weights/weights.hpp"
#include "search_spaces/operators/mixture.hpp"

#include <array>
#include <chrono>

namespace clade {

/// The weights of a `tree_network` (search_spaces/operators/mixture.hpp).
struct fitted_trees {
  tree_sizes sizes;
  std::vector<weight_tensor> weights;
};

struct boosted_trees {
  /// One that was fitted on the training part, or one for each fold (`data_of_fold`).
  std::vector<fitted_trees> folds;
  /// Says the mean of what those of the folds say.
  fitted_trees whole;
};

struct boosted_trees_params {
  std::uint32_t folds = 1;
  std::uint64_t seed = 0;  ///< The run's.
  std::size_t threads = 1; ///< So many fits are made at once, 1 or more.
  bool quick = false;      ///< The first setting is taken, and no slower rate.
  std::chrono::steady_clock::time_point deadline =
      std::chrono::steady_clock::time_point::max();
};

/// The settings that are tried on a training part, in this order.
[[nodiscard]] std::array<boosting_params, 3> boosting_settings(const device_data& data);

/// Fits gradient-boosted trees (booster.hpp) to examples that are vectors. Several depths
/// are tried on the first fold, the best of them on the second, and so on, as many as there is
/// time for; that of the lowest validation loss is taken, and those that are hardly behind it:
/// the mean of what they say. Then the learning rate is halved, for as long as there is time
/// and that lowers the loss. If there is no time for folds they are
/// fitted on the training part. Class weights count as in training. An error after the deadline.
[[nodiscard]] expected<boosted_trees>
fit_boosted_trees(const device_data& data, const boosted_trees_params& params);

} // namespace clade
