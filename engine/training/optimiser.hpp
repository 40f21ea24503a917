#pragma once

#include "engine/training/recipe.hpp"

#include <ATen/core/Tensor.h>

#include <vector>

namespace clade {

/// Changes parameters by their gradients: SGD with Nesterov's momentum (Sutskever et al.,
/// 2013), Adam (Kingma and Ba, 2015), AdamW (Loshchilov and Hutter, 2019). One fused
/// kernel call for each group of parameters, since tiny networks spend their time in
/// calls.
class optimiser {
public:
  /// `parameters` share storage with the network's and want gradients.
  optimiser(const recipe& r, const std::vector<at::Tensor>& parameters);

  /// One step down the gradients of all parameters, which are dropped.
  void step(double learning_rate);

  /// How many steps it has made.
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  /// What it keeps for parameters, group by group: all first moments, then all second
  /// ones. They share storage with its own.
  [[nodiscard]] std::vector<at::Tensor> moments() const;
  /// As after so many steps, whose moments were written into `moments()`.
  void go_on_after(std::uint64_t steps);

private:
  struct group {
    double weight_decay = 0;
    std::vector<at::Tensor> parameters;
    std::vector<at::Tensor> first;  ///< Momentum, or the mean of gradients.
    std::vector<at::Tensor> second; ///< The mean of their squares; Adam's alone.
    std::vector<at::Tensor> steps;  ///< All one and the same tensor.
  };

  using tensors = std::vector<at::Tensor>;

  void clip(std::vector<tensors>& gradients) const;
  void update(group& g, const tensors& gradients, double learning_rate);

  optimiser_kind kind_;
  double momentum_;
  double gradient_clip_;
  std::uint64_t steps_ = 0;
  at::Tensor step_;
  std::vector<group> groups_;
};

} // namespace clade
