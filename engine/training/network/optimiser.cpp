#include "engine/training/network/optimiser.hpp"

#include "engine/training/network/orthogonal_steps.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <ranges>

// Parameters stand in groups: weights (two dimensions or more), which decay, and biases
// and the scales of normalisations, which do not; with Muon its weights come first.
// Gradients are taken from the parameters and given up rather than zeroed: the next
// backward pass then hands over its own buffers without adding.

namespace clade {
namespace {

constexpr double beta2 = 0.999;
constexpr double epsilon = 1e-8;

constexpr double first_scale = 65536;
constexpr double growth = 2;
constexpr double backoff = 0.5;
constexpr double growth_interval = 2000;

constexpr std::size_t of_weights = 0, of_others = 1, of_muon = 2;

std::vector<std::size_t> groups_by_decay(const std::vector<bool>& decays) {
  std::vector<std::size_t> all;
  for (const bool decay : decays)
    all.push_back(decay ? of_weights : of_others);
  return all;
}

std::vector<std::size_t> groups_of(const recipe& r,
                                   const std::vector<at::Tensor>& parameters) {
  std::vector<bool> decays;
  for (const auto& p : parameters)
    decays.push_back(p.dim() > 1);
  auto all = groups_by_decay(decays);
  const auto output = std::ranges::find(std::views::reverse(all), of_weights);
  if (r.optimiser == optimiser_kind::muon && output != all.rend())
    std::replace(all.begin(), output.base() - 1, of_weights, of_muon);
  return all;
}

optimiser_kind kind_of_rest(const recipe& r) {
  return r.optimiser == optimiser_kind::muon ? optimiser_kind::adamw : r.optimiser;
}

kept_moments moments_of(optimiser_kind kind, double momentum) {
  return {.first = kind != optimiser_kind::sgd || momentum > 0,
          .second = kind == optimiser_kind::adam || kind == optimiser_kind::adamw};
}

} // namespace

optimiser::optimiser(const recipe& r, const std::vector<at::Tensor>& parameters,
                     bool scales_loss)
    : optimiser(r, parameters, groups_of(r, parameters)) {
  if (scales_loss && step_.defined()) {
    scale_ = at::full_like(step_, first_scale);
    steps_at_scale_ = at::zeros_like(step_);
  }
}

optimiser::optimiser(const recipe& r, const std::vector<at::Tensor>& parts,
                     const std::vector<bool>& decays)
    : optimiser(r, parts, groups_by_decay(decays)) {
  TORCH_CHECK(r.optimiser != optimiser_kind::muon, "Muon wants whole weights");
}

optimiser::optimiser(const recipe& r, const std::vector<at::Tensor>& parameters,
                     const std::vector<std::size_t>& group_of)
    : momentum_(r.momentum),
      gradient_clip_(r.gradient_clip),
      devices_(r.devices) {
  std::array<group, 3> all;
  all[of_muon] = {.kind = optimiser_kind::muon, .weight_decay = r.weight_decay};
  all[of_weights] = {.kind = kind_of_rest(r), .weight_decay = r.weight_decay};
  all[of_others] = {.kind = kind_of_rest(r)};
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    auto& g = all[group_of[i]];
    places_.emplace_back(group_of[i], g.parameters.size());
    g.parameters.push_back(parameters[i]);
    g.begins.push_back(elements_);
    elements_ += parameters[i].numel();
  }
  std::array<std::size_t, 3> place_of{};
  for (const auto k : {of_muon, of_weights, of_others}) {
    auto& g = all[k];
    if (g.parameters.empty())
      continue;
    if (!step_.defined())
      step_ = at::zeros({}, g.parameters.front().options().requires_grad(false));
    const auto kept = moments_of(g.kind, momentum_);
    for (const auto& p : g.parameters) {
      if (kept.first)
        g.first.push_back(at::zeros_like(p));
      if (kept.second)
        g.second.push_back(at::zeros_like(p));
      g.steps.push_back(step_);
    }
    place_of[k] = groups_.size();
    groups_.push_back(std::move(g));
  }
  for (auto& place : places_)
    place.first = place_of[place.first];
}

at::Tensor optimiser::scaled(const at::Tensor& loss) const {
  return scale_.defined() ? loss * scale_ : loss;
}

void optimiser::step(double learning_rate, const at::Tensor& norm) {
  if (groups_.empty()) { // All parameters are others'.
    ++steps_;
    return;
  }
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
    clip(gradients, norm.defined() ? norm : norm_of(gradients));
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

at::Tensor optimiser::norm_of(const std::vector<tensors>& gradients) const {
  tensors norms;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    if (devices_ == 1) {
      std::ranges::move(norms_of(gradients[g]), std::back_inserter(norms));
      continue;
    }
    tensors parts;
    for (std::size_t i = 0; i < gradients[g].size(); ++i) {
      const auto& all = gradients[g][i];
      const auto dense = all.is_non_overlapping_and_dense() ? all : all.contiguous();
      const auto row = dense.as_strided({dense.numel()}, {1});
      const auto begin = groups_[g].begins[i];
      for (const auto& p : cut_by_chunks(begin, begin + row.numel(), elements_, devices_))
        parts.push_back(row.narrow(0, p.begin, p.size));
    }
    std::ranges::move(norms_of(parts), std::back_inserter(norms));
  }
  return at::stack(norms).norm();
}

// The norm stays on the device: whether it is above the limit is not asked.
void optimiser::clip(std::vector<tensors>& gradients, const at::Tensor& norm) const {
  const auto scale = clip_scale(norm, gradient_clip_);
  for (auto& of_group : gradients)
    of_group = at::_foreach_mul(of_group, scale);
}

at::Tensor optimiser::first_moment(std::size_t parameter) const {
  const auto& g = groups_[places_[parameter].first];
  return g.first.empty() ? at::Tensor() : g.first[places_[parameter].second];
}

at::Tensor optimiser::second_moment(std::size_t parameter) const {
  const auto& g = groups_[places_[parameter].first];
  return g.second.empty() ? at::Tensor() : g.second[places_[parameter].second];
}

at::Tensor clip_scale(const at::Tensor& norm, double limit) {
  constexpr double no_division_by_zero = 1e-6;
  return (limit / (norm + no_division_by_zero)).clamp_max(1);
}

std::vector<cut_part> cut_by_chunks(std::int64_t begin, std::int64_t end,
                                    std::int64_t elements, std::int64_t chunks) {
  std::vector<cut_part> parts;
  for (std::int64_t c = 0; c < chunks; ++c) {
    const auto from = std::max(begin, elements * c / chunks);
    const auto to = std::min(end, elements * (c + 1) / chunks);
    if (from < to)
      parts.push_back({.begin = from - begin,
                       .size = to - from,
                       .chunk = static_cast<std::size_t>(c)});
  }
  return parts;
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
  const auto kept = moments_of(r);
  const std::size_t each = std::size_t{kept.first} + std::size_t{kept.second};
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
  switch (g.kind) {
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
  case optimiser_kind::muon:
    for (std::size_t i = 0; i < gradients.size(); ++i)
      orthogonal_step(g.parameters[i], gradients[i], g.first[i],
                      {.learning_rate = learning_rate,
                       .momentum = momentum_,
                       .weight_decay = g.weight_decay,
                       .overflowed = overflowed});
    return;
  }
}

kept_moments moments_of(const recipe& r) {
  return moments_of(r.optimiser, r.momentum);
}

std::vector<at::Tensor> norms_of(const std::vector<at::Tensor>& parts) {
  return at::_foreach_norm(parts, 2);
}

} // namespace clade
