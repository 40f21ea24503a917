#include "engine/training/optimiser.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <iterator>
#include <numeric>

// Parameters stand in two groups: weights (two dimensions or more), which decay, and
// biases and the scales of normalisations, which do not. Gradients are taken from the
// parameters and given up rather than zeroed: the next backward pass then hands over its
// own buffers without adding.

namespace clade {
namespace {

constexpr double beta2 = 0.999;
constexpr double epsilon = 1e-8;

constexpr double first_scale = 65536;
constexpr double growth = 2;
constexpr double backoff = 0.5;
constexpr double growth_interval = 2000;

} // namespace

optimiser::optimiser(const recipe& r, const std::vector<at::Tensor>& parameters,
                     bool scales_loss)
    : kind_(r.optimiser),
      momentum_(r.momentum),
      gradient_clip_(r.gradient_clip) {
  group weights{.weight_decay = r.weight_decay};
  group others{};
  for (const auto& p : parameters)
    (p.dim() > 1 ? weights : others).parameters.push_back(p);
  for (auto* g : {&weights, &others}) {
    if (g->parameters.empty())
      continue;
    if (!step_.defined())
      step_ = at::zeros({}, g->parameters.front().options().requires_grad(false));
    for (const auto& p : g->parameters) {
      if (kind_ != optimiser_kind::sgd || momentum_ > 0)
        g->first.push_back(at::zeros_like(p));
      if (kind_ != optimiser_kind::sgd)
        g->second.push_back(at::zeros_like(p));
      g->steps.push_back(step_);
    }
    groups_.push_back(std::move(*g));
  }
  if (scales_loss && step_.defined()) {
    scale_ = at::full_like(step_, first_scale);
    steps_at_scale_ = at::zeros_like(step_);
  }
}

at::Tensor optimiser::scaled(const at::Tensor& loss) const {
  return scale_.defined() ? loss * scale_ : loss;
}

void optimiser::step(double learning_rate) {
  if (groups_.empty())
    return;
  const at::NoGradGuard no_grad;
  std::vector<tensors> gradients(groups_.size());
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    gradients[i].reserve(groups_[i].parameters.size());
    for (auto& p : groups_[i].parameters) {
      gradients[i].push_back(std::move(p.mutable_grad()));
      p.mutable_grad().reset();
    }
  }
  std::optional<at::Tensor> overflowed;
  if (scale_.defined())
    overflowed = unscale(gradients);
  if (overflowed)
    step_.add_(1 - *overflowed);
  else
    step_.add_(1);
  if (gradient_clip_ > 0)
    clip(gradients);
  for (std::size_t i = 0; i < groups_.size(); ++i)
    update(groups_[i], gradients[i], learning_rate, overflowed);
  ++steps_;
  if (overflowed)
    change_scale(*overflowed);
}

// Nothing here asks the device for a value, which would wait for it.
at::Tensor optimiser::unscale(std::vector<tensors>& gradients) const {
  auto overflowed = at::zeros_like(scale_);
  const auto inverse = scale_.reciprocal();
  for (auto& of_group : gradients)
    at::_amp_foreach_non_finite_check_and_unscale_(of_group, overflowed, inverse);
  return overflowed;
}

void optimiser::change_scale(const at::Tensor& overflowed) {
  steps_at_scale_.add_(1).mul_(1 - overflowed);
  const auto grows = steps_at_scale_.ge(growth_interval).to(at::kFloat);
  scale_.mul_(1 - (1 - backoff) * overflowed).mul_(1 + (growth - 1) * grows);
  steps_at_scale_.mul_(1 - grows);
}

// The norm stays on the device: whether it is above the limit is not asked.
void optimiser::clip(std::vector<tensors>& gradients) const {
  tensors norms;
  for (const auto& of_group : gradients)
    std::ranges::move(at::_foreach_norm(of_group, 2), std::back_inserter(norms));
  const auto scale = clip_scale(norms, gradient_clip_);
  for (auto& of_group : gradients)
    of_group = at::_foreach_mul(of_group, scale);
}

at::Tensor clip_scale(const std::vector<at::Tensor>& norms, double limit) {
  constexpr double no_division_by_zero = 1e-6;
  const auto norm = at::stack(norms).norm();
  return (limit / (norm + no_division_by_zero)).clamp_max(1);
}

std::vector<std::size_t> order_of_groups(std::span<const at::Tensor> parameters) {
  std::vector<std::size_t> order(parameters.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_partition(order,
                                [&](std::size_t i) { return parameters[i].dim() > 1; });
  return order;
}

std::vector<std::size_t>
optimiser::parameters_of_moments(const recipe& r,
                                 std::span<const at::Tensor> parameters) {
  const bool squares = r.optimiser != optimiser_kind::sgd;
  const std::size_t each = squares ? 2 : r.momentum > 0 ? 1 : 0;
  const auto order = order_of_groups(parameters);
  const auto others = std::ranges::find_if(
      order, [&](std::size_t i) { return parameters[i].dim() <= 1; });
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < each; ++i)
    all.insert(all.end(), order.begin(), others);
  for (std::size_t i = 0; i < each; ++i)
    all.insert(all.end(), others, order.end());
  return all;
}

std::vector<at::Tensor> optimiser::moments() const {
  std::vector<at::Tensor> all;
  for (const auto& g : groups_) {
    all.insert(all.end(), g.first.begin(), g.first.end());
    all.insert(all.end(), g.second.begin(), g.second.end());
  }
  if (scale_.defined())
    all.insert(all.end(), {step_, scale_, steps_at_scale_});
  return all;
}

void optimiser::go_on_after(std::uint64_t steps) {
  const at::NoGradGuard no_grad;
  steps_ = steps;
  if (step_.defined() && !scale_.defined())
    step_.fill_(static_cast<double>(steps));
}

void optimiser::update(group& g, const tensors& gradients, double learning_rate,
                       const std::optional<at::Tensor>& overflowed) {
  switch (kind_) {
  case optimiser_kind::sgd:
    at::_fused_sgd_(g.parameters, gradients, g.first, g.weight_decay, momentum_,
                    learning_rate,
                    /*dampening=*/0.0, /*nesterov=*/momentum_ > 0, /*maximize=*/false,
                    /*is_first_step=*/steps_ == 0, /*grad_scale=*/{}, overflowed);
    return;
  case optimiser_kind::adam:
    at::_fused_adam_(g.parameters, gradients, g.first, g.second, {}, g.steps,
                     learning_rate, momentum_, beta2, g.weight_decay, epsilon,
                     /*amsgrad=*/false,
                     /*maximize=*/false, /*grad_scale=*/{}, overflowed);
    return;
  case optimiser_kind::adamw:
    at::_fused_adamw_(g.parameters, gradients, g.first, g.second, {}, g.steps,
                      learning_rate, momentum_, beta2, g.weight_decay, epsilon,
                      /*amsgrad=*/false,
                      /*maximize=*/false, /*grad_scale=*/{}, overflowed);
    return;
  }
}

} // namespace clade
