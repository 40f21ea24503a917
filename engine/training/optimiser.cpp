#include "engine/training/optimiser.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

// Parameters stand in two groups: weights (two dimensions or more), which decay, and
// biases and the scales of normalisations, which do not. Gradients are taken from the
// parameters and given up rather than zeroed: the next backward pass then hands over its
// own buffers without adding.

namespace clade {
namespace {

constexpr double beta2 = 0.999;
constexpr double epsilon = 1e-8;

} // namespace

optimiser::optimiser(const recipe& r, const std::vector<at::Tensor>& parameters)
    : kind_(r.optimiser),
      momentum_(r.momentum) {
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
}

void optimiser::step(double learning_rate) {
  if (groups_.empty())
    return;
  const at::NoGradGuard no_grad;
  step_.add_(1);
  for (auto& g : groups_) {
    std::vector<at::Tensor> gradients;
    gradients.reserve(g.parameters.size());
    for (auto& p : g.parameters) {
      gradients.push_back(std::move(p.mutable_grad()));
      p.mutable_grad().reset();
    }
    update(g, gradients, learning_rate);
  }
  ++steps_;
}

std::vector<at::Tensor> optimiser::moments() const {
  std::vector<at::Tensor> all;
  for (const auto& g : groups_) {
    all.insert(all.end(), g.first.begin(), g.first.end());
    all.insert(all.end(), g.second.begin(), g.second.end());
  }
  return all;
}

void optimiser::go_on_after(std::uint64_t steps) {
  const at::NoGradGuard no_grad;
  steps_ = steps;
  if (step_.defined())
    step_.fill_(static_cast<double>(steps));
}

void optimiser::update(group& g, const std::vector<at::Tensor>& gradients,
                       double learning_rate) {
  switch (kind_) {
  case optimiser_kind::sgd:
    at::_fused_sgd_(g.parameters, gradients, g.first, g.weight_decay, momentum_,
                    learning_rate,
                    /*dampening=*/0.0, /*nesterov=*/momentum_ > 0, /*maximize=*/false,
                    /*is_first_step=*/steps_ == 0);
    return;
  case optimiser_kind::adam:
    at::_fused_adam_(g.parameters, gradients, g.first, g.second, {}, g.steps,
                     learning_rate, momentum_, beta2, g.weight_decay, epsilon,
                     /*amsgrad=*/false,
                     /*maximize=*/false);
    return;
  case optimiser_kind::adamw:
    at::_fused_adamw_(g.parameters, gradients, g.first, g.second, {}, g.steps,
                      learning_rate, momentum_, beta2, g.weight_decay, epsilon,
                      /*amsgrad=*/false,
                      /*maximize=*/false);
    return;
  }
}

} // namespace clade
