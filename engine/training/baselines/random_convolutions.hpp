#pragma once

#include "engine/training/network/device_data.hpp"
#include "engine/training/weights/weights.hpp"
#include "search_spaces/operators/mixture.hpp"

#include <chrono>
#include <vector>

namespace clade {

/// A linear model of fixed random convolutions of sequences, fitted.
struct fitted_convolutions {
  convolution_sizes sizes;
  /// The weights of a `convolution_network` (search_spaces/operators/mixture.hpp).
  std::vector<weight_tensor> weights;
  /// The examples by which it can be judged: the validation part and, of few, the train part
  /// before it.
  at::Tensor judged_by;
  /// All that is said of them, [judged_by, outputs]: scores or standardised values of fits
  /// that did not see the example.
  at::Tensor judged;
};

struct random_convolutions_params {
  std::uint64_t seed = 0; ///< The run's.
  std::chrono::steady_clock::time_point deadline =
      std::chrono::steady_clock::time_point::max();
};

/// Examples of one length, and how many of them there are.
struct sequence_counts {
  std::int64_t steps = 2, channels = 1;
  std::int64_t fitted = 1; ///< The examples that a model is fitted to.
  std::int64_t asked = 1;  ///< All.
};

/// Returns the size that is fitted: the more examples and steps, the fewer convolutions.
/// An error says that there are too many channels.
[[nodiscard]] expected<convolution_sizes> convolution_sizes_for(const sequence_counts& c);

/// Fits a ridge regression on fixed random convolutions of sequences. A few thousand
/// examples of the train and the validation part are all learnt from, and `judged` leaves
/// out one at a time; of more it learns from the training part. Its scores of classes are
/// scaled so that they have the lowest loss on examples that it did not see. Class weights
/// count as in training. An error after the deadline; LibTorch's exceptions pass through.
[[nodiscard]] expected<fitted_convolutions>
fit_random_convolutions(const device_data& data,
                        const random_convolutions_params& params);

} // namespace clade
