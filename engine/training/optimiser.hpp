#pragma once

#include "engine/training/recipe.hpp"

#include <ATen/core/Tensor.h>

#include <optional>
#include <span>
#include <vector>

namespace clade {

/// Changes parameters by their gradients: SGD with Nesterov's momentum (Sutskever et al.,
/// 2013), Adam (Kingma and Ba, 2015), AdamW (Loshchilov and Hutter, 2019). One fused
/// kernel call for each group of parameters, since tiny networks spend their time in
/// calls.
class optimiser {
public:
  /// `parameters` share storage with the network's and want gradients. With
  /// `scales_loss`, for a forward pass in float16, gradients are those of `scaled(loss)`:
  /// a step whose gradients are too large for float16 changes nothing and halves the
  /// scale, which doubles after 2,000 steps without one (Micikevicius et al., "Mixed
  /// Precision Training", ICLR 2018).
  optimiser(const recipe& r, const std::vector<at::Tensor>& parameters,
            bool scales_loss = false);

  /// Returns what to take gradients of: the loss, times the scale where there is one.
  [[nodiscard]] at::Tensor scaled(const at::Tensor& loss) const;

  /// One step down the gradients of all parameters, which are dropped.
  void step(double learning_rate);

  /// How many steps it has made.
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  /// What it keeps for parameters, group by group: all first moments, then all second
  /// ones; and where it scales losses, the state of that. They share storage with its own.
  [[nodiscard]] std::vector<at::Tensor> moments() const;
  /// As after so many steps, whose moments were written into `moments()`.
  void go_on_after(std::uint64_t steps);

  /// What `moments` has: of which parameter each moment is. Not of losses' scale.
  [[nodiscard]] static std::vector<std::size_t>
  parameters_of_moments(const recipe& r, std::span<const at::Tensor> parameters);

private:
  struct group {
    double weight_decay = 0;
    std::vector<at::Tensor> parameters;
    std::vector<at::Tensor> first;  ///< Momentum, or the mean of gradients.
    std::vector<at::Tensor> second; ///< The mean of their squares; Adam's alone.
    std::vector<at::Tensor> steps;  ///< All one and the same tensor.
  };

  using tensors = std::vector<at::Tensor>;

  /// Divides gradients by the scale; returns 1 where one of them is not finite, else 0.
  at::Tensor unscale(std::vector<tensors>& gradients) const;
  void change_scale(const at::Tensor& overflowed);
  void clip(std::vector<tensors>& gradients) const;
  void update(group& g, const tensors& gradients, double learning_rate,
              const std::optional<at::Tensor>& overflowed);

  optimiser_kind kind_;
  double momentum_;
  double gradient_clip_;
  std::uint64_t steps_ = 0;
  at::Tensor step_;  ///< As `steps_`, less the steps that changed nothing.
  at::Tensor scale_; ///< Undefined where losses are not scaled.
  at::Tensor steps_at_scale_;
  std::vector<group> groups_;
};

/// The numbers of parameters in the order in which the optimiser goes through them.
[[nodiscard]] std::vector<std::size_t>
order_of_groups(std::span<const at::Tensor> parameters);

/// What gradients are multiplied by, so that their norm is at most `limit`. `norms`: of
/// each parameter's, in the order of groups.
[[nodiscard]] at::Tensor clip_scale(const std::vector<at::Tensor>& norms, double limit);

} // namespace clade
