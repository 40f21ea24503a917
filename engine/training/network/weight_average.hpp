#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace clade {

/// The exponential moving average of a network's weights and running statistics over the
/// steps of its training (Polyak and Juditsky, 1992; with the decay's warm-up of
/// TensorFlow's ExponentialMovingAverage). It generalises better than the weights of the
/// last step, most of all while the learning rate is still high.
class weight_average {
public:
  /// Begins at the values of `weights`, with which it shares storage.
  weight_average(double decay, std::vector<at::Tensor> weights);

  /// Takes in the weights after step `step`, counted from 1: the average keeps the share
  /// min(decay, (1 + step) / (10 + step)) of itself.
  void add(std::uint64_t step);

  /// Begins again at what the weights are now.
  void begin_again();

  /// Goes on with these values.
  void set(const std::vector<at::Tensor>& values);

  /// Exchanges the values of the weights and of the average.
  void exchange();

  /// In the order of the weights.
  [[nodiscard]] const std::vector<at::Tensor>& values() const { return values_; }

private:
  double decay_;
  std::vector<at::Tensor> weights_, values_;
};

} // namespace clade
